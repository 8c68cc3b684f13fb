import { useEffect, useState } from "react";

/** Returns the value as it was when it last did not change for `ms`: what asks the farm need not follow every key. */
export function useSettled<Value>(value: Value, ms: number): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
