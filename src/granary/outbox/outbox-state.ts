import { type Failing, setAsideOf } from "./choose-to-send.ts";
import type { OutboxState } from "./outbox.ts";
import type { SpoolFile } from "./spool.ts";

/** What waits, and why it does. */
export function stateOf(
  files: readonly SpoolFile[],
  failingOf: (file: SpoolFile) => Failing | undefined,
  { trouble, overflow }: { readonly trouble: string | undefined; readonly overflow: number },
): OutboxState {
  let [results, indexes, reports, bytes] = [0, 0, 0, 0];
  let late: Failing | undefined;
  for (const file of files) {
    bytes += file.bytes;
    late ??= failingOf(file);
    if (file.kind === "results") results += file.items;
    else if (file.kind === "index") indexes += file.items;
    else reports += file.items;
  }
  const full = `${overflow} were dropped, as more waited than is kept`;
  return {
    results,
    indexes,
    reports,
    bytes,
    trouble: trouble ?? late?.because ?? (overflow > 0 ? full : undefined),
    setAside: setAsideOf(files, failingOf),
  };
}
