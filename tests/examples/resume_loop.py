"""A loop that saves every iteration through one pipe and goes on where it was killed.

Needs nothing but `waypost` on the path. Run it, kill it, run it again.
"""

import json
import subprocess
import sys

SERIES = "nightly-python"


def newest():
    """The state to go on from, or None to start."""
    resume = ["waypost", "resume", SERIES, "--document", "--json"]
    found = subprocess.run(resume, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if found.returncode == 3:  # nothing saved yet
        return None
    if found.returncode != 0:  # somebody must decide
        sys.exit(found.stderr)
    return json.loads(found.stdout)


class Saver:
    """One process for all saves, so that a save takes a sync and not the start of a program."""

    def __init__(self):
        lines = ["waypost", "save", "--lines", "--about", "--series", SERIES]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(lines, stdin=pipe, stdout=pipe, text=True, bufsize=1)

    def save(self, state, **about):
        """Returns the id of the checkpoint once it is on disk."""
        print(json.dumps({"about": about, "document": state}), file=self.process.stdin)
        answer = self.process.stdout.readline().strip()
        if not answer or answer.startswith("error"):  # refused, or the process is gone
            sys.exit(f"not saved: {answer}")
        return answer

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def main(iterations):
    state = newest() or {"iteration": 0, "notes": []}
    print("after", state["iteration"], flush=True)
    saver = Saver()
    while state["iteration"] < iterations:
        state["iteration"] += 1  # the work of an agent
        state["notes"].append(f"what iteration {state['iteration']} found")
        saver.save(state, iteration=state["iteration"], trigger="iteration")
        print("saved", state["iteration"], flush=True)
    return saver.close()


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 50))
