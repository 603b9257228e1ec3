"""The panel in the site's colours and letters; `static/panel.css` has the rest."""

import gradio as gr


def panel_theme() -> gr.themes.Base:
    """Gradio's plain theme with the site's font, so that no letters are fetched from elsewhere."""
    return gr.themes.Base(
        font=["Inter", "ui-sans-serif", "system-ui", "sans-serif"],
        font_mono=["ui-monospace", "monospace"],
        radius_size=gr.themes.sizes.radius_sm,
        text_size=gr.themes.sizes.text_sm,
    )
