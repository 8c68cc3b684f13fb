import type { Report } from "#api/benchmark-comparison.ts";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { latestReported, reportOf, requestsBeginning, standingOfRequest } from "./report.store.ts";

/**
 * Reads the report of a request, by its id or a prefix of it, or the newest report (`latest`). A fault contains the
 * reason when there is none.
 */
export async function readReport(
  tx: Tx,
  request: string,
  suite: string | undefined,
): Promise<Report> {
  const id =
    request === "latest" ? await latestReported(tx, suite) : await requestNamed(tx, request);
  if (id === undefined) {
    throw new Fault(
      "not_found",
      `no request${suite === undefined ? "" : ` of ${suite}`} has a report yet`,
    );
  }
  const report = await reportOf(tx, id);
  if (report !== undefined) return report;
  const standing = await standingOfRequest(tx, id);
  const why =
    standing?.hasParent === false
      ? "the parent of its artifact is not known, so it was not compared"
      : standing?.isOver === true
        ? `it is ${standing.state}`
        : `it is ${standing?.state}; a report is made when it ends`;
  throw new Fault("not_found", `request ${id} has no report: ${why}`);
}

async function requestNamed(tx: Tx, written: string): Promise<string> {
  const found = /^[0-9a-f][0-9a-f-]{3,35}$/.test(written)
    ? await requestsBeginning(tx, written)
    : [];
  const [only, another] = found;
  if (another !== undefined) {
    throw new Fault(
      "invalid_argument",
      `"${written}" is the start of several requests' ids; write more characters`,
    );
  }
  if (only !== undefined) return only;
  throw new Fault(
    "not_found",
    `there is no request "${written}"; \`grange bench requests\` lists them`,
  );
}
