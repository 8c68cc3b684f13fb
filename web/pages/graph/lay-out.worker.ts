import { layOut } from "./lay-out.ts";
import type { Drawing } from "./layers.ts";

// The layout must not hold up the page: it runs here, off the main thread.
self.onmessage = (event: MessageEvent<Drawing>) => {
  self.postMessage(layOut(event.data));
};
