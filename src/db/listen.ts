import pg from "pg";

/** How long to wait before connecting again; the slow polls of the listeners bridge the gap. */
const reconnectMs = 250;

/**
 * Hears NOTIFY on a connection of its own, and stays connected.
 *
 * What was sent while the connection was down is lost. `heard` is therefore
 * called with an empty payload after each reconnection: look for yourself.
 */
export async function listenOn(
  config: pg.ClientConfig,
  channel: string,
  heard: (payload: string) => void,
): Promise<{ stop(): Promise<void> }> {
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const connect = async () => {
    const next = new pg.Client(config);
    next.on("notification", (message) => heard(message.payload ?? ""));
    next.on("error", () => {});
    next.on("end", () => {
      if (client === next) later();
    });
    try {
      await next.connect();
      await next.query(`listen ${pg.escapeIdentifier(channel)}`);
    } catch (cause) {
      await next.end().catch(() => {});
      throw cause;
    }
    if (stopped) await next.end();
    else client = next;
  };

  const later = () => {
    client = undefined;
    if (stopped) return;
    timer = setTimeout(() => {
      connect().then(
        () => heard(""),
        () => later(),
      );
    }, reconnectMs);
  };

  await connect();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      const last = client;
      client = undefined;
      await last?.end().catch(() => {});
    },
  };
}
