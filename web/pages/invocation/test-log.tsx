import { queryOptions, useQuery } from "@tanstack/react-query";
import type { InvocationTest } from "#api/invocation.ts";
import { failureExcerpt } from "#core/failure-excerpt.ts";
import { FailureLog } from "../../parts/failure-log.tsx";
import { blobUrl } from "./blob-links.tsx";

const excerptLines = 20;

/** The end of the log of the first failed attempt of a test, when the farm's store has it. */
export function TestLog({
  tests,
  label,
}: {
  readonly tests: readonly InvocationTest[];
  readonly label: string;
}) {
  const log = tests
    .filter(({ status }) => status !== "PASSED")
    .flatMap(({ files }) => files)
    .find(({ name, blob }) => name === "test.log" && blob !== null);
  const { data } = useQuery(testLogQuery(log?.project ?? null, log?.blob ?? null));
  return data === undefined ? null : <FailureLog log={data} of={label} />;
}

const testLogQuery = (project: string | null, blob: string | null) =>
  queryOptions({
    queryKey: ["test-log", project, blob],
    queryFn: async ({ signal }) => {
      // Text of up to 1 MiB: longer logs and other bytes are answered with an error, and have a link only.
      const response = await fetch(blobUrl(project, blob ?? "", { as: "text" }), { signal });
      const text = response.ok ? await response.text() : "";
      return failureExcerpt(text, excerptLines);
    },
    enabled: blob !== null,
    // A blob's name is its digest, so it never changes.
    staleTime: Number.POSITIVE_INFINITY,
  });
