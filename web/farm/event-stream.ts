import { noteNews } from "./accepted-age.ts";
import { reportStream } from "./connection.ts";
import { reconnectDelayMs } from "./reconnect-delay.ts";

/** A page's subscription to events. */
export interface Subscription {
  /**
   * The stream's address. It is computed for every connection, so that it can name the last received event (`?since=`,
   * `?offset=`) and nothing is lost.
   */
  readonly url: () => string;
  readonly onEvent: (data: string, type: string) => void;
  /** Named events besides `message`. */
  readonly types?: readonly string[];
  /** Called when a lost connection is restored; for streams that cannot resume. */
  readonly onReconnected?: () => void;
  /** Whether the stream is complete: then it is no loss when the server closes it. */
  readonly isOver?: () => boolean;
}

/**
 * Listens to server-sent events until the returned function is called.
 *
 * A hidden page does not listen: browsers allow six connections per host over HTTP/1.1, so the seventh open tab would
 * otherwise hang. The page reads the changes when it is shown.
 */
export function listen(subscription: Subscription): () => void {
  const self = {};
  let source: EventSource | undefined;
  let timer: number | undefined;
  let failures = 0;
  let wasLive = false;

  const close = () => {
    window.clearTimeout(timer);
    source?.close();
    source = undefined;
  };

  const connect = () => {
    close();
    if (document.hidden || subscription.isOver?.() === true) {
      reportStream(self, undefined);
      return;
    }
    if (failures === 0) reportStream(self, "connecting");
    const opened = new EventSource(subscription.url());
    source = opened;
    opened.onopen = () => {
      if (source !== opened) return;
      failures = 0;
      reportStream(self, "live");
      if (wasLive) {
        noteNews();
        subscription.onReconnected?.();
      }
      wasLive = true;
    };
    for (const type of ["message", ...(subscription.types ?? [])]) {
      opened.addEventListener(type, (event: MessageEvent<string>) => {
        if (source !== opened) return;
        noteNews();
        subscription.onEvent(event.data, type);
      });
    }
    // The browser would retry by itself, but with the old address.
    opened.onerror = () => {
      if (source !== opened) return;
      close();
      if (subscription.isOver?.() === true) {
        reportStream(self, undefined);
        return;
      }
      failures += 1;
      reportStream(self, "lost");
      timer = window.setTimeout(connect, reconnectDelayMs(failures, Math.random()));
    };
  };

  const onVisibility = () => {
    if (!document.hidden && source === undefined) connect();
    else if (document.hidden) {
      close();
      reportStream(self, undefined);
    }
  };
  const onOnline = () => {
    failures = 0;
    connect();
  };

  document.addEventListener("visibilitychange", onVisibility);
  window.addEventListener("online", onOnline);
  connect();

  return () => {
    document.removeEventListener("visibilitychange", onVisibility);
    window.removeEventListener("online", onOnline);
    close();
    reportStream(self, undefined);
  };
}
