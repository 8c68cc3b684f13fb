import type { ReactNode } from "react";

/**
 * Contains a table that is perhaps wider than the page: it then scrolls inside the box, also with the keyboard.
 *
 * @param label names the box for screen readers; different from all other regions of the page
 */
export function ScrollableTable({
  label,
  className,
  children,
}: {
  readonly label: string;
  readonly className?: string;
  readonly children: ReactNode;
}) {
  return (
    <div
      className={className === undefined ? "table-box" : `table-box ${className}`}
      tabIndex={0}
      role="region"
      aria-label={label}
    >
      {children}
    </div>
  );
}
