import { layOut } from "./lay-out.ts";
import type { Drawing } from "./layers.ts";

// Runs in a worker, so that the layout does not block the page.
self.onmessage = (event: MessageEvent<Drawing>) => {
  self.postMessage(layOut(event.data));
};
