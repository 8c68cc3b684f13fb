interface Props {
  readonly label: string;
  readonly title?: string;
  readonly min: number;
  readonly max: number;
  readonly value: number;
  readonly onChange: (value: number) => void;
}

/** An integer field that is always within its range, whatever the user types. */
export function NumberField({ label, title, min, max, value, onChange }: Props) {
  return (
    <label title={title}>
      {label}{" "}
      <input
        type="number"
        min={min}
        max={max}
        value={value}
        onChange={(event) => {
          const number = event.target.valueAsNumber;
          onChange(Number.isNaN(number) ? min : Math.min(max, Math.max(min, Math.round(number))));
        }}
      />
    </label>
  );
}
