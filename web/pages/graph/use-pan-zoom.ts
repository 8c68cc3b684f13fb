import { type PointerEvent, useCallback, useEffect, useRef } from "react";
import { fit, reveal, type View, zoom } from "./view-box.ts";

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Moves a drawing without rendering by React: only one attribute changes. */
export function usePanZoom(drawing: Size) {
  const frame = useRef<SVGSVGElement>(null);
  const content = useRef<SVGGElement>(null);
  const view = useRef<View>({ x: 0, y: 0, scale: 1 });
  const drag = useRef<{ x: number; y: number; moved: boolean }>(undefined);

  const show = useCallback((next: View) => {
    view.current = next;
    content.current?.setAttribute(
      "transform",
      `translate(${next.x} ${next.y}) scale(${next.scale})`,
    );
  }, []);
  const screen = useCallback(
    (): Size => ({
      width: frame.current?.clientWidth ?? 1,
      height: frame.current?.clientHeight ?? 1,
    }),
    [],
  );
  const fitAll = useCallback(() => show(fit(drawing, screen())), [show, screen, drawing]);
  const zoomBy = (factor: number) =>
    show(zoom(view.current, factor, { x: screen().width / 2, y: screen().height / 2 }));
  const bringIntoView = useCallback(
    (point: { x: number; y: number }) => show(reveal(view.current, point, screen())),
    [show, screen],
  );

  useEffect(fitAll, [fitAll]);

  // React's own wheel listener is passive and could not prevent the page from scrolling.
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const { left, top } = element.getBoundingClientRect();
      const now = view.current;
      // A pinch on a touchpad arrives as a wheel with ctrl.
      if (event.ctrlKey || event.metaKey) {
        show(
          zoom(now, Math.exp(-event.deltaY / 200), {
            x: event.clientX - left,
            y: event.clientY - top,
          }),
        );
      } else {
        show({ ...now, x: now.x - event.deltaX, y: now.y - event.deltaY });
      }
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, [show]);

  const handlers = {
    onPointerDown(event: PointerEvent) {
      if (event.button === 0) drag.current = { x: event.clientX, y: event.clientY, moved: false };
    },
    onPointerMove(event: PointerEvent<SVGSVGElement>) {
      const from = drag.current;
      if (from === undefined) return;
      const moved = from.moved || Math.hypot(event.clientX - from.x, event.clientY - from.y) > 4;
      if (!moved) return;
      // Only now, because a captured pointer would prevent clicks on boxes.
      event.currentTarget.setPointerCapture(event.pointerId);
      show({
        ...view.current,
        x: view.current.x + event.clientX - from.x,
        y: view.current.y + event.clientY - from.y,
      });
      drag.current = { x: event.clientX, y: event.clientY, moved };
    },
    onPointerUp() {
      drag.current = undefined;
    },
  };
  return { frame, content, fitAll, zoomBy, bringIntoView, handlers };
}
