import { codeSpan } from "#comparison/code-span.ts";
import { blocksOf, type CommentPart, fitComment } from "./fit-comment.ts";
import { sentenceAsMarkdown } from "./foreign-text.ts";
import type { RequestToTell } from "./report-source.ts";

/** A request of a pull request, with the reason for the report. */
export interface PullRequestToTell extends RequestToTell {
  readonly sha: string;
  readonly wasRequested: boolean;
}

/** A pull request's comment about its measurements. */
interface PullComment {
  readonly body: string;
  /** Whether the latest result of a suite is a regression; undefined: nothing was compared. */
  readonly hasRegression: boolean | undefined;
}

/** The number of earlier requests that are listed; the farm's pages show all. */
const mostEarlier = 20;
/** The space that is reserved for the marker before the comment. */
const roomForMarker = 500;
/** A sentence with hundreds of metrics is not readable. */
const longestVerdict = 8_000;

/**
 * Returns the complete comment of a pull request. Undefined when there is nothing to report: nothing regressed,
 * improved or broke, and no comment requested it.
 */
export function pullComment(
  requests: readonly PullRequestToTell[],
  { isShown, most }: { readonly isShown: boolean; readonly most: number },
): PullComment | undefined {
  const reported = requests
    .filter(isWorthTelling)
    .toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? -1 : 1));
  const latest = reported.filter(
    (request, i) => reported.findIndex(({ suite }) => suite === request.suite) === i,
  );
  const [first] = latest;
  if (first === undefined) return undefined;
  const directions = latest.flatMap(({ report }) => report?.direction ?? []);
  const hasRegression =
    directions.length === 0
      ? undefined
      : directions.some((direction) => direction === "regression" || direction === "mixed");
  if (!isShown && !latest.some(isNew)) return undefined;

  const earlier = reported.filter((request) => !latest.includes(request));
  const parts = [...latest.flatMap(partsOf), ...earlierPart(earlier)];
  const body = fitComment(parts, `[Complete report](${first.url}).`, most - roomForMarker);
  return { body, hasRegression };
}

/** Returns whether a request has ended with a result worth reporting. */
function isWorthTelling({ state, report, wasRequested }: PullRequestToTell): boolean {
  switch (state) {
    case "completed":
    case "failed":
      return report !== undefined || wasRequested;
    case "waiting-for-artifacts":
    case "artifacts-ready":
    case "in-progress":
    case "cancelled":
      return false;
  }
}

function isNew({ report, wasRequested }: PullRequestToTell): boolean {
  return (
    wasRequested ||
    (report !== undefined && (report.direction !== "none" || report.newlyBroken.length > 0))
  );
}

function partsOf(request: PullRequestToTell): CommentPart[] {
  const { report, suite, artifact, state, errors, url } = request;
  const link = needed(
    [
      `[All figures](${url})`,
      ...(errors > 0
        ? [`${errors} ${errors === 1 ? "thing" : "things"} failed while measuring`]
        : []),
    ].join(" · "),
  );
  if (report === undefined) {
    return [
      needed(`### Benchmarks of ${codeSpan(suite)}: ${codeSpan(artifact)}`),
      needed(
        state === "failed"
          ? "**The measurement failed.** There is nothing to compare."
          : "**Measured.** There is nothing to compare it with.",
      ),
      link,
    ];
  }
  const blocks = blocksOf(report.markdown);
  const [heading = "", verdict = "", ...rest] = blocks;
  const reproduce = rest.pop();
  return [
    needed(heading),
    needed(verdict.length > longestVerdict ? "**There are several kinds of changes.**" : verdict),
    link,
    ...rest.map((text) => ({ text, isNeeded: false })),
    ...(reproduce === undefined ? [] : [needed(reproduce)]),
  ];
}

function earlierPart(earlier: readonly PullRequestToTell[]): CommentPart[] {
  if (earlier.length === 0) return [];
  const lines = earlier
    .slice(0, mostEarlier)
    .map(
      ({ artifact, report, url }) =>
        `- [${codeSpan(artifact)}](${url}): ${report === undefined ? "nothing to compare" : sentenceAsMarkdown(report.verdict, 300)}`,
    );
  const rest = earlier.length - lines.length;
  const list = [...lines, ...(rest > 0 ? [`- and ${rest} more`] : [])].join("\n");
  return [
    {
      text: `<details><summary>Measured before: ${earlier.length}</summary>\n\n${list}\n\n</details>`,
      isNeeded: false,
    },
  ];
}

function needed(text: string): CommentPart {
  return { text, isNeeded: true };
}
