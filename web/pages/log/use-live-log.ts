import { useEffect, useMemo, useSyncExternalStore } from "react";
import { LiveLog, type LogStatus } from "./live-log.ts";

export function useLiveLog(url: string): { log: LiveLog; status: LogStatus } {
  const log = useMemo(() => new LiveLog(url), [url]);
  useEffect(() => log.start(), [log]);
  const status = useSyncExternalStore(log.watch, log.status);
  return { log, status };
}
