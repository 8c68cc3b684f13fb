import { type RefObject, useState } from "react";

interface Props {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly box: RefObject<HTMLInputElement | null>;
  readonly onChange: (text: string) => void;
  readonly onEnter?: (backwards: boolean) => void;
}

/**
 * A field whose text is stored in the page's address.
 *
 * The address follows a moment later. While the user types, the field shows the typed text; otherwise fast typing would
 * lose letters to the older text in the address.
 */
export function SearchBox({ label, placeholder, value, box, onChange, onEnter }: Props) {
  const [draft, setDraft] = useState<string>();
  return (
    <label className="filter">
      <span className="visually-hidden">{label}</span>
      <input
        ref={box}
        type="search"
        placeholder={placeholder}
        value={draft ?? value}
        onFocus={() => setDraft(value)}
        onBlur={() => setDraft(undefined)}
        onChange={(event) => {
          setDraft(event.target.value);
          onChange(event.target.value);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") onEnter?.(event.shiftKey);
          if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
    </label>
  );
}
