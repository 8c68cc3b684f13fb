import type { Describe } from "../command-list.ts";
import { repeated, speaksToServer, withExamples } from "../common-options.ts";
import { exitCodes } from "../exit-code.ts";
import { priorityNumber } from "../priority-number.ts";
import { totalsOf } from "../progress/totals.ts";
import { watchGraph } from "../progress/watch-graph.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import type { SubmissionOptions } from "../submission.ts";
import { printableLine } from "../terminal/printable-text.ts";

interface SubmitOptions extends CommonOptions, SubmissionOptions {
  readonly wait?: boolean;
  readonly preview?: boolean;
}

export const describeSubmit: Describe = (command) => {
  speaksToServer(command)
    .option("--repo <path-or-url>", "the repository (default: the one you stand in)")
    .option("--rev <rev>", "branch, tag or commit (default: HEAD)")
    .option("--definitions <dir>", "definitions from a directory instead of the commit's .grange/")
    .option("--param <name=value>", "a parameter of the definitions; may be repeated", repeated)
    .option("--switch <name=value>", "a switch of the definitions; may be repeated", repeated)
    .option("--graph <name>", "a graph that the definitions name (default: all jobs)")
    .option(
      "--select <selection>",
      "only these jobs and what they need, such as 'kind:test & !slow'",
    )
    .option("--catalog <digest>", "definitions that the farm has kept, instead of the commit's")
    .option("--branch <name>", "for which branch (default: the one that --rev names)")
    .option(
      "--set <set>",
      "the set that the graph joins: a name, which may be new, or a graph of the set",
    )
    .option("--dry-run, --preview", "only say what would run, and for how long")
    .option("--no-cache", "run even what the action cache has")
    .option(
      "--priority <n>",
      "higher is sooner; caps of the branch and your own hold",
      priorityNumber,
    )
    .option("--ttl <duration>", "how long any of its jobs may wait for its start")
    .option("--top", "the class that nothing overtakes; needs a grant that has it")
    .option("--wait", "show progress, and end with 0 or 1 as the graph ends")
    .action((options: SubmitOptions) =>
      inSession(options, async (session) => {
        const { preview, submissionOf, submit } = await import("../submission.ts");
        const submission = await submissionOf(options, process.cwd());
        if (options.preview === true) {
          const { previewLines } = await import("../preview-lines.ts");
          const foreseen = await preview(session.api, submission);
          return answer(session, options, foreseen, () =>
            previewLines(foreseen, session.terminal.answer.paint),
          );
        }
        const submitted = await submit(session.api, submission);
        if (submitted.notice !== undefined)
          session.terminal.notes.line(`${printableLine(submitted.notice)}.`);
        if (options.wait !== true) {
          return answer(session, options, submitted, () => [
            `Graph ${submitted.id.slice(0, 8)} with ${submitted.graph.jobs} ${submitted.graph.jobs === 1 ? "job" : "jobs"}: ${submitted.url}`,
          ]);
        }
        session.terminal.notes.line(submitted.url);
        const enough = new AbortController();
        process.once("SIGINT", () => enough.abort());
        const view = await watchGraph(session, submitted.id, enough.signal);
        const { graph } = view;
        const ended = { ...graph, ...totalsOf(view), url: submitted.url };
        if (options.json === true) answer(session, options, ended, () => []);
        return graph.state === "succeeded" ? exitCodes.ok : exitCodes.failed;
      }),
    );
  withExamples(command, [
    ["the commit you stand on", "submit --wait"],
    [
      "what the tests alone would be, with a switch on",
      "submit --select kind:test --switch pgo=on --preview",
    ],
    [
      "two repositories as one set, to be retriggered together",
      "submit --repo ../b2g --set nightly-0412",
    ],
    ["a tag of a repository elsewhere", "submit --repo https://example.org/a.git --rev v1.2.0"],
    [
      "definitions that lie elsewhere, with a parameter",
      "submit --definitions ../defs --param level=2",
    ],
  ]);
};
