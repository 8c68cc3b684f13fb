/** The common state of the page's streams: `lost` as soon as one of them is lost. */
export type Connection = "quiet" | "connecting" | "live" | "lost";

type StreamState = "connecting" | "live" | "lost";

const streams = new Map<object, StreamState>();
const listeners = new Set<() => void>();
let connection: Connection = "quiet";

/** Sets the state of a stream; `undefined` when it is no longer needed. */
export function reportStream(stream: object, state: StreamState | undefined): void {
  if (state === undefined) streams.delete(stream);
  else streams.set(stream, state);
  const next = overall([...streams.values()]);
  if (next === connection) return;
  connection = next;
  for (const listener of listeners) listener();
}

export function overall(states: readonly StreamState[]): Connection {
  if (states.length === 0) return "quiet";
  if (states.includes("lost")) return "lost";
  return states.includes("connecting") ? "connecting" : "live";
}

export function watchConnection(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const currentConnection = (): Connection => connection;
