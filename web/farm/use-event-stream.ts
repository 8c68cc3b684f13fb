import { useEffect, useRef } from "react";
import { listen, type Subscription } from "./event-stream.ts";

/**
 * Listens while the component is shown. `key` identifies the stream: another key opens another stream, `undefined`
 * opens none. The newest callbacks are called.
 */
export function useEventStream(key: string | undefined, subscription: Subscription): void {
  const latest = useRef(subscription);
  useEffect(() => {
    latest.current = subscription;
  });

  // The key identifies the stream.
  useEffect(() => {
    if (key === undefined) return;
    const { types } = latest.current;
    return listen({
      url: () => latest.current.url(),
      onEvent: (data, type) => latest.current.onEvent(data, type),
      onReconnected: () => latest.current.onReconnected?.(),
      isOver: () => latest.current.isOver?.() ?? false,
      ...(types === undefined ? {} : { types }),
    });
  }, [key]);
}
