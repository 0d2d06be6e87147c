import type { ReactNode } from 'react';

/** A row of a tree view. Node rows carry their record; the other kinds stand for children that are not loaded. */
export type TreeRow<Node, Id> = { key: string; level: number; parentId: Id } & (
  | {
      kind: 'node';
      node: Node;
      id: Id;
      name: string;
      hasChildren: boolean;
      expanded: boolean;
      /** The position among the siblings, starting at 1; 0 if it is unknown. */
      position: number;
      /** The number of siblings; -1 if it is unknown. */
      setSize: number;
    }
  /** `autoLoad`: loaded as soon as it is scrolled into view, not only on click. */
  | { kind: 'more'; autoLoad: boolean }
  | { kind: 'loading' }
  | { kind: 'error'; error: unknown }
);

export type NodeRow<Node, Id> = Extract<TreeRow<Node, Id>, { kind: 'node' }>;

export interface DropTarget<Node> {
  node: Node;
  position: 'into' | 'before' | 'after';
}

export interface DragHandlers<Node> {
  /** Returns why a node cannot be dropped on the target, or undefined if it can. */
  validate(moved: Node, target: DropTarget<Node>): string | undefined;
  onDrop(moved: Node, target: DropTarget<Node>): void;
  /** Called when the pointer has rested on a node with children for a while. */
  onHover(node: Node): void;
  getLabel(moved: Node, target: DropTarget<Node> | undefined): string;
}

export type RowAction = 'open' | 'toggle' | 'check' | 'load';

/** A button of each row, for the mouse and touch. Offer the same by keyboard in `onNodeKeyDown`. */
export interface TreeRowButton<Node> {
  key: string;
  icon: ReactNode;
  /** The tooltip; undefined if this node does not have the button. */
  getLabel(node: Node, name: string): string | undefined;
}
