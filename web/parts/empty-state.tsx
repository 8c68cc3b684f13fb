import type { ReactNode } from "react";
import { Copyable } from "./copy.tsx";

/** A page without content says what to do to give it some. */
export function EmptyState({
  title,
  children,
  command,
  note,
  heading: Heading = "h2",
}: {
  title: string;
  children: ReactNode;
  command?: string;
  /** Shown below the command. */
  note?: ReactNode;
  /** `h1` where it is the whole page. */
  heading?: "h1" | "h2";
}) {
  return (
    <section className="empty">
      <Heading>{title}</Heading>
      <p>{children}</p>
      {command === undefined ? null : <Copyable text={command} label="command" />}
      {note}
    </section>
  );
}
