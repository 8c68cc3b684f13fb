import pg from "pg";

/** How long to wait before connecting again; the slow polls of the listeners bridge the gap. */
const reconnectMs = 250;

/**
 * How often the connection is probed, and how long an answer may take. It only receives: if the network drops
 * everything, nothing else would show that.
 */
const probeEveryMs = 60_000;
const probeAnswerMs = 10_000;

type Heard = (payload: string) => void;

/** Receives NOTIFY for all listeners in this process. */
interface Listener {
  /**
   * Notifications that are sent while the connection is down are lost. Therefore `heard` is called with an empty
   * payload after each reconnection: the listener must then look for changes.
   */
  listen(channel: string, heard: Heard): Promise<{ stop(): Promise<void> }>;
  close(): Promise<void>;
}

/**
 * Listens on one connection, which the first listener opens, and reconnects when it is lost.
 *
 * One connection serves all channels: at each commit that notifies, PostgreSQL wakes every listening backend. A server
 * listens in about twenty places, and two commits of each action notify.
 */
export function openListener(
  config: pg.ClientConfig,
  { everyMs, answerMs } = { everyMs: probeEveryMs, answerMs: probeAnswerMs },
): Listener {
  const listening = new Map<string, Set<Heard>>();
  let connected: Promise<pg.Client> | undefined;
  /** The connection that is in use; its loss has to be noticed. */
  let current: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client(config);
    client.on("notification", ({ channel, payload }) => {
      for (const heard of listening.get(channel) ?? []) heard(payload ?? "");
    });
    client.on("error", () => {});
    const probe = { text: "select 1", query_timeout: answerMs };
    // A probe without an answer in time ends the connection.
    const probing = setInterval(() => void client.query(probe).catch(() => {}), everyMs).unref();
    client.on("end", () => {
      clearInterval(probing);
      if (current === client) later();
    });
    try {
      await client.connect();
      for (const channel of listening.keys()) await listenTo(client, channel);
    } catch (cause) {
      clearInterval(probing);
      await client.end().catch(() => {});
      throw cause;
    }
    current = client;
    return client;
  };

  /** Returns the connection; callers that arrive while it is being opened share it. */
  const connection = (): Promise<pg.Client> => {
    if (connected === undefined) {
      const made = connect();
      connected = made;
      made.catch(() => {
        if (connected === made) connected = undefined;
      });
    }
    return connected;
  };

  const later = () => {
    connected = undefined;
    current = undefined;
    if (isClosed || listening.size === 0 || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      connection().then(() => {
        for (const all of listening.values()) for (const heard of all) heard("");
      }, later);
    }, reconnectMs);
  };

  const end = async () => {
    clearTimeout(timer);
    timer = undefined;
    const last = connected;
    connected = undefined;
    const client = await last?.catch(() => undefined);
    if (current === client) current = undefined;
    await client?.end().catch(() => {});
  };

  return {
    async listen(channel, heard) {
      // A separate closure, because the same function may be registered twice.
      const bell: Heard = (payload) => heard(payload);
      const here = listening.get(channel) ?? new Set();
      listening.set(channel, here.add(bell));
      const stop = async () => {
        here.delete(bell);
        if (here.size === 0 && listening.get(channel) === here) listening.delete(channel);
        if (listening.size === 0) await end();
      };
      try {
        await listenTo(await connection(), channel);
      } catch (cause) {
        await stop();
        throw cause;
      }
      return { stop };
    },
    async close() {
      isClosed = true;
      listening.clear();
      await end();
    },
  };
}

async function listenTo(client: pg.Client, channel: string): Promise<void> {
  await client.query(`listen ${pg.escapeIdentifier(channel)}`);
}
