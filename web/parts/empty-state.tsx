import type { ReactNode } from "react";
import { Copyable } from "./copy.tsx";

/** A page without content says what to do to give it some. */
export function EmptyState({
  title,
  children,
  command,
  note,
}: {
  title: string;
  children: ReactNode;
  command?: string;
  /** Shown below the command. */
  note?: ReactNode;
}) {
  return (
    <section className="empty">
      <h2>{title}</h2>
      <p>{children}</p>
      {command === undefined ? null : <Copyable text={command} label="command" />}
      {note}
    </section>
  );
}
