import type { CheckAnnotation, CheckRun } from "../check-run.ts";

/** GitHub's limit for one request. */
export const annotationsAtOnce = 50;

/** Returns a check run in the form of GitHub's API, with the annotations of this request. */
export function checkBody(
  check: CheckRun,
  annotations: readonly CheckAnnotation[],
): Readonly<Record<string, unknown>> {
  return {
    name: check.name,
    external_id: check.externalId,
    details_url: check.detailsUrl,
    ...stateBody(check.state),
    output: {
      title: check.title,
      summary: check.summary,
      annotations: annotations.map((one) => ({
        path: one.path,
        start_line: one.startLine,
        end_line: one.endLine,
        annotation_level: one.level,
        message: one.message,
      })),
    },
  };
}

function stateBody(state: CheckRun["state"]): Readonly<Record<string, unknown>> {
  switch (state.kind) {
    case "queued":
      return { status: "queued" };
    case "in_progress":
      return { status: "in_progress", started_at: instant(state.startedAt) };
    case "completed":
      return {
        status: "completed",
        started_at: instant(state.startedAt),
        completed_at: instant(state.completedAt),
        conclusion: state.conclusion,
      };
  }
}

// GitHub's times have whole seconds, also in its examples for requests.
const instant = (date: Date) => `${date.toISOString().slice(0, 19)}Z`;

/** GitHub's data about an existing annotation. */
interface KnownAnnotation {
  readonly path: string;
  readonly start_line: number;
  readonly end_line: number;
  readonly annotation_level?: string | null | undefined;
  readonly message?: string | null | undefined;
}

/**
 * Returns those of the wanted annotations that GitHub does not have yet.
 *
 * An update adds its annotations to the existing ones: sending all again would duplicate them. Annotations cannot be
 * removed.
 */
export function missingAnnotations(
  wanted: readonly CheckAnnotation[],
  known: readonly KnownAnnotation[],
): CheckAnnotation[] {
  const counts = new Map<string, number>();
  const keyOf = (...parts: unknown[]) => JSON.stringify(parts);
  for (const one of known) {
    const key = keyOf(
      one.path,
      one.start_line,
      one.end_line,
      one.annotation_level ?? "",
      one.message ?? "",
    );
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return wanted.filter((one) => {
    const key = keyOf(one.path, one.startLine, one.endLine, one.level, one.message);
    const left = counts.get(key) ?? 0;
    counts.set(key, left - 1);
    return left <= 0;
  });
}
