import type { JobDetail } from "#api/graph.ts";
import { batchToShow } from "../batch-to-show.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { exitCodes } from "../exit-code.ts";
import { chosenLinesOf, type LineOptions, withLineOptions } from "../line-options.ts";
import { logAddressesOfRun } from "../log-addresses.ts";
import { chosenLines } from "../log-lines.ts";
import { followedLog, printLog, storedLog } from "../print-log.ts";
import { answer, type CommonOptions, inSession, type Session } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";
import { wholeNumber } from "../whole-number.ts";

interface LogsOptions extends CommonOptions, LineOptions {
  readonly follow?: boolean;
  readonly run?: string;
  readonly errors?: boolean;
  readonly batch?: number;
}

export const describeLogs: Describe = (command) => {
  withLineOptions(speaksToServer(command))
    .argument("<graph>", "the id of a graph, a unique prefix of it, or `latest`")
    .argument("<job>", "the job's name")
    .option("-f, --follow", "print new lines until the run ends")
    .option("--run <n>", "the run (default: the latest)")
    .option(
      "--batch <n>",
      "the batch of a chunked job (default: the last that failed)",
      wholeNumber,
    )
    .option("--errors", "only lines that the definition of the job marks as errors")
    .action((graph: string, job: string, options: LogsOptions) =>
      inSession(options, (session) => printRun(session, graph, job, options)),
    );
  withExamples(command, [
    ["print the log of the latest run of lint", "logs latest lint"],
    ["follow the log of tests while it runs", "logs latest tests -f"],
    ["print error lines with their numbers", "logs latest tests --errors"],
    ["the last 50 lines", "logs latest tests --tail 50"],
    ["find lines that contain a text", 'logs latest tests --search "out of memory"'],
    ["save the log of the first run", "logs 3f2a tests --run 1 > tests.log"],
  ]);
};

function printErrors(
  session: Session,
  { job, runList }: JobDetail,
  number: number,
  options: LogsOptions,
) {
  const errors = runList.find((run) => run.number === number)?.errorLines ?? [];
  return answer(session, options, errors, () =>
    errors.length === 0
      ? [`${job.name}, run ${number}: no line is marked as an error.`]
      : tableLines(errors.map(({ line, text }) => [String(line), printableLine(text)])),
  );
}

async function printRun(session: Session, graph: string, job: string, options: LogsOptions) {
  const chosen = chosenLinesOf(options);
  const detail = await session.api.job(graph, job);
  const run = options.run === undefined ? detail.runList.length : Number(options.run);
  if (!Number.isInteger(run) || run < 0) throw new UsageError("--run takes a number from 1 on");
  if (run === 0) {
    session.terminal.notes.line(`${job} has no run yet: it is ${detail.job.state}.`);
    return exitCodes.failed;
  }
  if (options.errors === true) return printErrors(session, detail, run, options);
  const batch = options.batch ?? batchToShow(detail, run);
  if (batch !== undefined && options.batch === undefined) {
    const sentence = `${job} ran in batches; this is batch ${batch}. Name another with --batch.`;
    session.terminal.notes.line(sentence);
  }
  const about = { graph: detail.graph.id, job, run };
  const address = batch === undefined ? about : { ...about, batch };
  const { api, terminal } = session;
  if (chosen !== undefined && options.follow === true)
    throw new UsageError(
      "--follow prints all lines: leave out --search, --from, --lines and --tail",
    );
  const parts =
    chosen !== undefined
      ? chosenLines(api, await logAddressesOfRun(address), chosen)
      : options.follow === true
        ? followedLog(api, address, terminal)
        : storedLog(api, address);
  if (options.json === true) {
    const pieces: Buffer[] = [];
    for await (const bytes of parts) pieces.push(Buffer.from(bytes));
    terminal.answer.line(JSON.stringify({ ...address, text: Buffer.concat(pieces).toString() }));
    return exitCodes.ok;
  }
  await printLog(parts, terminal);
  return exitCodes.ok;
}
