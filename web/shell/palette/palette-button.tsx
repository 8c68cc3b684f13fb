import { lazy, Suspense, useLayoutEffect, useState } from "react";

const Palette = lazy(async () => ({ default: (await import("./palette.tsx")).Palette }));

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
const keys = isMac ? "⌘K" : "Ctrl K";

/** Opens the command palette; so do ctrl-K and cmd-K, also while the user types. */
export function PaletteButton() {
  const [isOpen, setOpen] = useState(false);
  // As soon as the button is visible: a key pressed before other effects would be lost.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || event.shiftKey || event.altKey) return;
      if (event.ctrlKey === event.metaKey) return;
      // A dialog with a question is not left by accident.
      if (document.querySelector("dialog[open]") !== null) return;
      event.preventDefault();
      setOpen(true);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  return (
    <>
      <button type="button" className="palette-button" onClick={() => setOpen(true)}>
        <span className="palette-word">Search</span> <kbd>{keys}</kbd>
      </button>
      {isOpen ? (
        <Suspense>
          <Palette onClose={() => setOpen(false)} />
        </Suspense>
      ) : null}
    </>
  );
}
