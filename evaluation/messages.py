"""JSON lines between a worker and `python -m evaluation serve`, one message a line.

The worker writes requests on the child's standard input; the child answers on its standard output. Everything else
that a model or library prints goes to standard error. The worker validates every line against these shapes.

Requests
    {"type": "evaluate", "tasks": ["NAME", ...]}      then answers follow, closed by "idle"
    {"type": "stop"}                                  the child exits with 0

Answers
    {"type": "ready", "protocol": 1, "model": {...}, "environment": {...}}
    {"type": "progress", "task": NAME, "stage": "embedding" | "ranking", "done": n, "total": n}
    {"type": "task_result", "result": {...}}          a taskResult of schemas/result.schema.json, or a probeTaskResult,
                                                      which has a "kind"
    {"type": "task_failed", "task": NAME, "code": ..., "kind": ..., "message": ...}
    {"type": "idle"}                                  the request is done, whatever became of its tasks
    {"type": "failed", "code": ..., "kind": ..., "message": ...}   the child cannot go on and exits with 1
"""

PROTOCOL_VERSION = 1
