import type { AuditLogRecord, AuditPage } from "#api/audit.ts";
import { parseDuration } from "#definitions/duration.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";
import { timeText } from "../terminal/time-text.ts";
import { UsageError } from "../usage-error.ts";
import { wholeNumber } from "../whole-number.ts";

interface AuditOptions extends CommonOptions {
  readonly actor?: string;
  readonly verb?: string;
  readonly since?: string;
  readonly limit: number;
}

/** The maximum number of entries in one answer of the server. */
const mostPerPage = 1_000;

/** `grange audit`: the changes on the farm, with authors and reasons. */
export const describeAudit: Describe = (command) => {
  speaksToServer(command)
    .option("--actor <principal>", "only the actions of this principal")
    .option("--verb <verb>", "only this verb: administer, retrigger, customise, submit …")
    .option("--since <duration>", "only the last 90d, 12h, …")
    .option("--limit <n>", "the number of latest entries", wholeNumber, 100)
    .action((options: AuditOptions) =>
      inSession(options, async (session) => {
        const { accessEndpoints } = await import("#api/endpoints/access-endpoints.ts");
        const query = {
          ...(options.actor === undefined ? {} : { actor: options.actor }),
          ...(options.verb === undefined ? {} : { verb: options.verb }),
          ...(options.since === undefined ? {} : { since: timeBefore(options.since) }),
        };
        const entries: AuditLogRecord[] = [];
        let before: number | null = null;
        do {
          const limit = Math.min(mostPerPage, options.limit - entries.length);
          const page: AuditPage = await session.api.call(accessEndpoints.audit, {
            query: {
              ...query,
              limit,
              ...(before === null ? {} : { before }),
            },
          });
          entries.push(...page.entries);
          before = page.next;
        } while (before !== null && entries.length < options.limit);
        return answer(session, options, { entries, next: before }, () => auditLines(entries));
      }),
    );
  withExamples(command, [
    ["the latest entries, newest first", "audit"],
    ["changes of rights and tokens in the last 30 days", "audit --verb administer --since 30d"],
    ["the whole log, for an archive", "audit --limit 1000000 --json"],
  ]);
};

function timeBefore(written: string): string {
  const ms = parseDuration(written);
  if (ms === undefined)
    throw new UsageError(`"${written}" is not a duration; write one such as 12h or 90d`);
  return new Date(Date.now() - ms).toISOString();
}

function auditLines(entries: readonly AuditLogRecord[]): string[] {
  if (entries.length === 0) return ["There are no such entries."];
  return tableLines([
    ["when", "who", "did", "graph", "job", "what", "why"],
    ...entries.map(({ at, actor, verb, graph, job, detail, reason }) => [
      timeText(at),
      printableLine(actor),
      verb,
      graph?.slice(0, 8) ?? "-",
      printableLine(job ?? "-"),
      printableLine(JSON.stringify(detail).slice(0, 200)),
      printableLine(reason ?? "-"),
    ]),
  ]);
}
