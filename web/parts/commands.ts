import { useEffect, useRef } from "react";

/** An action that the command palette offers while a page is shown. */
interface Command {
  readonly label: string;
  /** The key that does the same, as the sheet of keys writes it. */
  readonly keys?: string;
  readonly run: () => void;
}

const offered = new Set<() => readonly Command[]>();

/** Offers actions in the command palette while the calling component is shown. The newest ones are called. */
export function useCommands(commands: readonly Command[]): void {
  const latest = useRef(commands);
  useEffect(() => {
    latest.current = commands;
  });
  useEffect(() => {
    const read = () => latest.current;
    offered.add(read);
    return () => void offered.delete(read);
  }, []);
}

/** Returns the actions that the shown page offers at this moment. */
export function offeredCommands(): Command[] {
  return [...offered].flatMap((read) => read());
}
