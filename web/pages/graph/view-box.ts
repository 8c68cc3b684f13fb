/** The visible part of a drawing: screen = drawing × scale + (x, y). */
export interface View {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

const margin = 24;
const smallest = 0.08;
const largest = 2;

/** Returns the whole drawing if it stays readable; otherwise its left part. */
export function fit(drawing: Size, screen: Size): View {
  const across = (screen.width - 2 * margin) / Math.max(1, drawing.width);
  const down = (screen.height - 2 * margin) / Math.max(1, drawing.height);
  const scale = Math.min(1, Math.max(0.35, Math.min(across, down)));
  const spareX = screen.width - drawing.width * scale;
  const spareY = screen.height - drawing.height * scale;
  return { scale, x: Math.max(margin, spareX / 2), y: Math.max(margin, spareY / 2) };
}

/** Zooms in or out around a fixed point of the screen. */
export function zoom(
  view: View,
  factor: number,
  at: { readonly x: number; readonly y: number },
): View {
  const scale = Math.min(largest, Math.max(smallest, view.scale * factor));
  const ratio = scale / view.scale;
  return { scale, x: at.x - (at.x - view.x) * ratio, y: at.y - (at.y - view.y) * ratio };
}

/** Moves the view so that a point of the drawing is visible; does nothing when it already is. */
export function reveal(
  view: View,
  point: { readonly x: number; readonly y: number },
  screen: Size,
): View {
  const room = 120;
  const shift = (at: number, length: number) =>
    at < room || at > length - room ? length / 2 - at : 0;
  return {
    ...view,
    x: view.x + shift(view.x + point.x * view.scale, screen.width),
    y: view.y + shift(view.y + point.y * view.scale, screen.height),
  };
}
