import { useLayoutEffect, useRef } from "react";

/**
 * Keyboard shortcuts of this page. They are inactive while the user types, and do not use combinations of the browser
 * or the system.
 *
 * They work as soon as the content is visible: other effects run later, and a key pressed in between would be lost or
 * do what it did before.
 */
export function useHotkeys(keys: Readonly<Record<string, (() => void) | undefined>>): void {
  const latest = useRef(keys);
  useLayoutEffect(() => {
    latest.current = keys;
  });
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const isIn = (where: string) =>
        event.target instanceof Element && event.target.closest(where) !== null;
      if (isIn("input, textarea, select, dialog[open]")) return;
      // Enter belongs to the focused element. The button of a dialog that has just closed may still have the focus.
      if (event.key === "Enter" && isIn("a, button, summary") && !isIn("dialog")) return;
      const action = latest.current[event.key];
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}
