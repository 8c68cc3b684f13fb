import { Outcome } from "#proto/grange/worker/v1/worker_pb.ts";
import { type Scene, slot } from "./scene.ts";
import type { JobTrial, Observed } from "./trial.ts";

const failed = ({ outcome }: Observed) => outcome === Outcome.FAILED;

/** An output that must be refused; none of its content may be stored. */
const refusedOutput = (script: string): JobTrial => ({
  job: { script, command: { outputPaths: ["out"] } },
  isHeld: (seen) => failed(seen) && seen.message.includes("out") && seen.outputs.length === 0,
});

const timeoutMs = 500;
/** Checks of the disk pause for 20 times their own duration, which is seconds for some thousand files on a busy machine. */
const diskTimeoutMs = 180_000;

/** The input of two jobs. */
const inputOfTwo = { path: "input", text: "as the farm has it\n" };

/** Attacks that end their job, or whose end must be observed, by name. */
export const jobTrials = (scene: Pick<Scene, "mark">) =>
  ({
    // These end only the job's own processes. `try-attacks.ts` checks that the machine's processes still live.
    "sends SIGKILL to all processes": {
      job: { script: "kill -9 -1; kill -9 $$" },
      isHeld: failed,
    },
    "ends the first process of its sandbox": {
      job: { script: "kill -9 1 2 $PPID; kill -TERM 1; kill -9 $$" },
      isHeld: failed,
    },
    "stops its sandbox with SIGSTOP": {
      job: { script: "kill -STOP 1 $PPID; kill -STOP $$; sleep 600", timeoutMs },
      isHeld: ({ outcome }) => outcome === Outcome.TIMED_OUT,
    },
    "ignores the signal at its timeout": {
      job: { script: "trap '' TERM INT HUP QUIT; while :; do sleep 0.05; done", timeoutMs },
      isHeld: ({ outcome }) => outcome === Outcome.TIMED_OUT,
    },
    // `try-attacks.ts` looks for a process with the mark of the scene.
    "leaves a process behind": {
      job: {
        script: "setsid sh -c 'trap \"\" TERM HUP; sleep 600' >/dev/null 2>&1 & echo left",
        environment: { A_LEFT: scene.mark },
      },
      isHeld: ({ stdout }) => stdout === "left\n",
    },
    // `try-attacks.ts` looks for a core file.
    "leaves a core dump": {
      job: { script: "ulimit -c unlimited; sh -c 'kill -SEGV $$'; exit 0" },
      isHeld: ({ outcome }) => outcome === Outcome.SUCCEEDED,
    },
    "declares an output that links to a file of the machine": {
      job: { script: "ln -s /etc/passwd out", command: { outputPaths: ["out"] } },
      // The link is stored, and never followed: no content of the machine's file leaves it.
      isHeld: ({ outputs }) => outputs.length === 0,
    },
    "declares an output that links out of its tree": refusedOutput(
      "mkdir out; ln -s ../../../../../../etc/passwd out/f",
    ),
    "declares a fifo as an output": refusedOutput("mkfifo out"),
    "declares a socket as an output": refusedOutput(
      'node -e \'require("net").createServer().listen("out", () => process.kill(process.pid, "SIGKILL"))\'; true',
    ),
    "declares a link as the directory of its outputs": {
      job: {
        script: "mkdir -p d; rmdir d; ln -s /etc d",
        command: { outputPaths: ["d/passwd"] },
      },
      isHeld: ({ outputs }) => outputs.length === 0,
    },
    "exchanges an output for a link while it ends": {
      job: {
        script:
          "echo own > own; ln -s /etc/passwd link; cp own out; (while :; do mv -T link out; ln -s /etc/passwd link; cp own new; mv new out; done) >/dev/null 2>&1 & sleep 0.1",
        command: { outputPaths: ["out"] },
      },
      isHeld: ({ outputs }) => outputs.every((text) => text === "own\n"),
    },
    "declares a sparse file of 20 GiB": refusedOutput("truncate -s 20G out"),
    // The next job with this input is that of `unchangedInput`.
    "changes an input of the next job": {
      job: {
        inputs: [inputOfTwo],
        script: "chmod u+w input; echo evil > input || { rm -f input; echo evil > input; }",
      },
      isHeld: () => true,
    },
    "writes a log without end": {
      job: { script: "yes | head -c 20000000" },
      isHeld: ({ outcome, stdout }) =>
        outcome === Outcome.SUCCEEDED && stdout.length <= slot.logLimitBytes + 1_000,
    },
    "opens files without end": {
      job: {
        script: `node -e 'const fs = require("fs"); try { for (;;) fs.openSync("/dev/null"); } catch (reason) { console.log(reason.code); }'`,
      },
      isHeld: ({ stdout }) => stdout === "EMFILE\n",
    },
    "starts processes without end": {
      job: {
        script:
          "mkfifo never; i=0; while [ $i -lt 5000 ]; do (read -r x < never) & i=$((i + 1)); done; echo all began",
      },
      // So many processes may come to the memory limit of the slot before they come to that of processes.
      isHeld: ({ outcome, stdout }) =>
        (outcome === Outcome.FAILED || outcome === Outcome.OUT_OF_MEMORY) &&
        !stdout.includes("all began"),
    },
    "uses all memory": {
      job: { script: `head -c ${2 * slot.memoryBytes} /dev/zero | tail | wc -c` },
      isHeld: ({ outcome }) => outcome === Outcome.OUT_OF_MEMORY,
    },
    "uses all memory as files in /dev/shm": {
      job: { script: `head -c ${2 * slot.memoryBytes} /dev/zero > /dev/shm/f; sleep 5` },
      isHeld: ({ outcome }) => outcome === Outcome.OUT_OF_MEMORY,
    },
    "fills the disk": {
      job: {
        script: `head -c ${2 * slot.diskBytes} /dev/zero > f; sleep 600`,
        timeoutMs: diskTimeoutMs,
      },
      isHeld: (seen) => failed(seen) && seen.message.includes("on the disk"),
    },
    "fills the disk with empty files": {
      job: {
        script: `seq ${slot.diskBytes / 1_024 + 1_000} | xargs touch; sleep 600`,
        timeoutMs: diskTimeoutMs,
      },
      isHeld: (seen) => failed(seen) && seen.message.includes("on the disk"),
    },
  }) satisfies Record<string, JobTrial>;

/** A job that reads the input which an attack tried to change. */
export const unchangedInput: JobTrial = {
  job: { inputs: [inputOfTwo], script: "cat input" },
  isHeld: ({ stdout }) => stdout === inputOfTwo.text,
};
