import { useSyncExternalStore } from "react";
import { type Connection, currentConnection, watchConnection } from "../farm/connection.ts";

const words: Readonly<Record<Connection, string>> = {
  quiet: "",
  connecting: "connecting…",
  live: "live",
  lost: "connection lost, reconnecting…",
};

/** Shows whether the visible data is up to date. */
export function ConnectionSign() {
  const connection = useSyncExternalStore(watchConnection, currentConnection);
  return (
    <output className={`connection ${connection}`} aria-live="polite">
      {words[connection]}
    </output>
  );
}
