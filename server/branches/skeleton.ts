/** Nodes are kept in pages of this many: what grows by copying leaves its former self to the collector. */
const PAGE = 16_384;
const pageOf = (node: number) => node >>> 14;
const placeIn = (node: number) => node & (PAGE - 1);

/**
 * The shape of a tree of any size, some 24 bytes a department: who is whose first child, and who comes next. Nodes are
 * small numbers from 1 on; 0 is nobody, and stands above the roots.
 */
export class Skeleton {
  size = 0;
  #ids = [new Float64Array(PAGE)];
  #first = [new Int32Array(PAGE)];
  #next = [new Int32Array(PAGE)];
  /** Finds a node by its id: a table of nodes, at least twice as large as they are many. */
  #slots = new Int32Array(2 * PAGE);
  #lastParent = -1;
  #lastChild = 0;

  /** Children of one parent must come together, in their order; the parent may come later. `parentId` 0: a root. */
  add(id: number, parentId: number): number {
    const node = this.#nodeOf(id);
    const parent = parentId === 0 ? 0 : this.#nodeOf(parentId);
    if (parent === this.#lastParent) put(this.#next, this.#lastChild, node);
    else if (this.firstChild(parent) === 0) put(this.#first, parent, node);
    else throw new Error('the children of a department did not come together');
    this.#lastParent = parent;
    this.#lastChild = node;
    return node;
  }

  /** Gives back its memory at once: the collector is in no hurry with what is large and lies outside of its own. */
  release(): void {
    this.size = 0;
    this.#ids = [];
    this.#first = this.#next = [];
    this.#slots = new Int32Array(0);
  }

  id = (node: number) => get(this.#ids, node);
  firstChild = (node: number) => get(this.#first, node);
  nextSibling = (node: number) => get(this.#next, node);

  #nodeOf(id: number): number {
    let slot = this.#slotFor(id);
    for (let node = this.#slots[slot]; node; node = this.#slots[slot]) {
      if (this.id(node) === id) return node;
      slot = (slot + 1) & (this.#slots.length - 1);
    }
    const node = ++this.size;
    if (placeIn(node) === 0) this.#addPage();
    put(this.#ids, node, id);
    this.#slots[slot] = node;
    if (2 * node === this.#slots.length) this.#widen();
    return node;
  }

  /** Ids that follow each other, as most do, must not crowd: multiplied, they are spread over the table. */
  #slotFor(id: number): number {
    const mixed = Math.imul(id | 0, 0x9e3779b1) ^ Math.imul((id / 0x100000000) | 0, 0x85ebca6b);
    return (mixed ^ (mixed >>> 15)) & (this.#slots.length - 1);
  }

  #addPage(): void {
    this.#ids.push(new Float64Array(PAGE));
    this.#first.push(new Int32Array(PAGE));
    this.#next.push(new Int32Array(PAGE));
  }

  #widen(): void {
    this.#slots = new Int32Array(this.#slots.length * 2);
    for (let node = 1; node <= this.size; node++) {
      let slot = this.#slotFor(this.id(node));
      while (this.#slots[slot]) slot = (slot + 1) & (this.#slots.length - 1);
      this.#slots[slot] = node;
    }
  }
}

const get = (pages: (Float64Array | Int32Array)[], node: number): number =>
  (pages[pageOf(node)] as Int32Array)[placeIn(node)] as number;
const put = (pages: (Float64Array | Int32Array)[], node: number, value: number) => {
  (pages[pageOf(node)] as Int32Array)[placeIn(node)] = value;
};

/** A node on the way through a tree, and how many end after it: itself when it has no children, and who it is the last of. */
export interface Step {
  node: number;
  ends: number;
}

/** Depth first, in display order. Not recursive: a tree may be a million deep. */
export function* stepsThrough(skeleton: Skeleton): Generator<Step, void> {
  const above: number[] = [];
  let node = skeleton.firstChild(0);
  while (node !== 0) {
    const child = skeleton.firstChild(node);
    if (child !== 0) {
      yield { node, ends: 0 };
      above.push(node);
      node = child;
      continue;
    }
    let last = node;
    let ends = 1;
    while (skeleton.nextSibling(last) === 0 && above.length > 0) {
      last = above.pop() as number;
      ends++;
    }
    yield { node, ends };
    node = skeleton.nextSibling(last);
  }
}
