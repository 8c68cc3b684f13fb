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
    .option("--repo <path-or-url>", "the repository (default: the current one)")
    .option("--rev <rev>", "branch, tag or commit (default: HEAD)")
    .option("--definitions <dir>", "definitions from a directory instead of the commit's .grange/")
    .option("--param <name=value>", "a parameter of the definitions; may be repeated", repeated)
    .option("--switch <name=value>", "a switch of the definitions; may be repeated", repeated)
    .option("--graph <name>", "the name of a graph in the definitions (default: all jobs)")
    .option(
      "--select <selection>",
      "only these jobs and what they need, such as 'kind:test & !slow'",
    )
    .option(
      "--catalog <digest>",
      "definitions that the farm has stored, instead of those of the commit",
    )
    .option("--branch <name>", "the branch of the graph (default: the one that --rev names)")
    .option(
      "--set <set>",
      "the set that the graph joins: a name, which may be new, or a graph of the set",
    )
    .option("--dry-run, --preview", "only print what would run, and for how long")
    .option("--no-cache", "run jobs even if the action cache has their results")
    .option(
      "--priority <n>",
      "a higher number starts sooner; the caps of the branch and of your grants apply",
      priorityNumber,
    )
    .option("--ttl <duration>", "the longest time that a job may wait for its start")
    .option(
      "--top",
      "put the graph into the top class, which starts before all others; needs a grant for it",
    )
    .option("--wait", "show progress, and exit with 0 if the graph succeeds, else with 1")
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
    ["the current commit", "submit --wait"],
    [
      "preview of only the tests, with a switch on",
      "submit --select kind:test --switch pgo=on --preview",
    ],
    [
      "two repositories as one set, which can be retriggered together",
      "submit --repo ../b2g --set nightly-0412",
    ],
    ["a tag of a repository elsewhere", "submit --repo https://example.org/a.git --rev v1.2.0"],
    [
      "definitions from another directory, with a parameter",
      "submit --definitions ../defs --param level=2",
    ],
  ]);
};
