import { useId, useState } from "react";

interface Props {
  readonly label: string;
  readonly value: string;
  readonly title?: string;
  readonly placeholder?: string;
  readonly suggestions?: readonly string[];
  /**
   * Reports each change at once, for a parent that waits for a pause in typing: then a click on a button has nothing
   * left to report.
   */
  readonly isLive?: boolean;
  /** Called when the user enters the field: suggestions may be requested then. */
  readonly onFocus?: () => void;
  /** Called when the user has finished, because each change causes a request to the farm. */
  readonly onChange: (text: string) => void;
}

export function TextField({
  label,
  value,
  title,
  placeholder,
  suggestions,
  isLive = false,
  onFocus,
  onChange,
}: Props) {
  const [draft, setDraft] = useState<string>();
  const list = useId();
  const finish = () => {
    if (draft !== undefined && draft !== value) onChange(draft);
    setDraft(undefined);
  };
  return (
    <label className="stacked" title={title}>
      {label}
      <input
        type="text"
        list={suggestions === undefined ? undefined : list}
        placeholder={placeholder}
        value={draft ?? value}
        onChange={(event) => {
          setDraft(event.target.value);
          if (isLive) onChange(event.target.value);
        }}
        onFocus={onFocus}
        onBlur={finish}
        onKeyDown={(event) => {
          if (event.key === "Enter") finish();
        }}
      />
      {suggestions === undefined ? null : (
        <datalist id={list}>
          {suggestions.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </label>
  );
}
