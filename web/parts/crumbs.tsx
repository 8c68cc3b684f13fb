import { type ReactNode, useSyncExternalStore } from "react";
import { createPortal } from "react-dom";

let slot: HTMLElement | null = null;
const watchers = new Set<() => void>();

/** The place of a page's own crumbs in the shell; called with null when it is removed. */
export function setCrumbsSlot(element: HTMLElement | null): void {
  slot = element;
  for (const watcher of watchers) watcher();
}

/**
 * The links between the page's group, which the shell names, and the page itself, with " / " between them.
 *
 * The shell shows them above every page; only the page knows them.
 */
export function Crumbs({ children }: { readonly children: ReactNode }) {
  const element = useSyncExternalStore(watchSlot, () => slot);
  return element === null ? null : createPortal(children, element);
}

function watchSlot(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
}
