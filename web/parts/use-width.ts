import { useLayoutEffect, useRef, useState } from "react";

/**
 * Returns the width of an element, so that text drawn in it keeps its size. Until it is measured, directly after the first
 * rendering, it is `first`.
 */
export function useWidth<E extends HTMLElement>(first: number) {
  const element = useRef<E>(null);
  const [width, setWidth] = useState<number>();
  useLayoutEffect(() => {
    const at = element.current;
    if (at === null) return;
    setWidth(at.clientWidth);
    const observer = new ResizeObserver(() => setWidth(at.clientWidth));
    observer.observe(at);
    return () => observer.disconnect();
  }, []);
  return { element, width: width ?? first, isMeasured: width !== undefined };
}
