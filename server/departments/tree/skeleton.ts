/**
 * The arrays grow by pages of this many nodes. Growing by copying would leave a large array to the garbage collector each time.
 */
const PAGE_SIZE = 16_384;
const pageOf = (node: number) => node >>> 14;
const indexInPage = (node: number) => node & (PAGE_SIZE - 1);

/**
 * The shape of a tree of any size, in about 24 bytes per department: the first child and the next sibling of each node.
 * Nodes are numbered from 1; 0 stands for no node, and for the parent of the roots.
 */
export class Skeleton {
  size = 0;
  #ids = [new Float64Array(PAGE_SIZE)];
  #firstChild = [new Int32Array(PAGE_SIZE)];
  #nextSibling = [new Int32Array(PAGE_SIZE)];
  /** An open-addressing hash table from ids to nodes, at most half full. */
  #slots = new Int32Array(2 * PAGE_SIZE);
  #lastParent = -1;
  #lastChild = 0;

  /** The children of one parent must be added consecutively and in order. They may come before it. `parentId` 0: a root. */
  add(id: number, parentId: number): number {
    const node = this.#nodeOf(id);
    const parent = parentId === 0 ? 0 : this.#nodeOf(parentId);
    if (parent === this.#lastParent) put(this.#nextSibling, this.#lastChild, node);
    else if (this.firstChild(parent) === 0) put(this.#firstChild, parent, node);
    else throw new Error('the children of a department were not added consecutively');
    this.#lastParent = parent;
    this.#lastChild = node;
    return node;
  }

  /** Drops the arrays early: the garbage collector is slow to free memory outside of its heap. */
  release(): void {
    this.size = 0;
    this.#ids = [];
    this.#firstChild = this.#nextSibling = [];
    this.#slots = new Int32Array(0);
  }

  id = (node: number) => get(this.#ids, node);
  firstChild = (node: number) => get(this.#firstChild, node);
  nextSibling = (node: number) => get(this.#nextSibling, node);

  /** Returns the node of an id. Adds the node if it does not exist yet. */
  #nodeOf(id: number): number {
    let slot = this.#slotFor(id);
    for (let node = this.#slots[slot]; node; node = this.#slots[slot]) {
      if (this.id(node) === id) return node;
      slot = (slot + 1) & (this.#slots.length - 1);
    }
    const node = ++this.size;
    if (indexInPage(node) === 0) this.#addPage();
    put(this.#ids, node, id);
    this.#slots[slot] = node;
    if (2 * node === this.#slots.length) this.#growTable();
    return node;
  }

  /** Multiplicative hashing: most ids are consecutive, and would otherwise fill adjacent slots. */
  #slotFor(id: number): number {
    const mixed = Math.imul(id | 0, 0x9e3779b1) ^ Math.imul((id / 0x100000000) | 0, 0x85ebca6b);
    return (mixed ^ (mixed >>> 15)) & (this.#slots.length - 1);
  }

  #addPage(): void {
    this.#ids.push(new Float64Array(PAGE_SIZE));
    this.#firstChild.push(new Int32Array(PAGE_SIZE));
    this.#nextSibling.push(new Int32Array(PAGE_SIZE));
  }

  #growTable(): void {
    this.#slots = new Int32Array(this.#slots.length * 2);
    for (let node = 1; node <= this.size; node++) {
      let slot = this.#slotFor(this.id(node));
      while (this.#slots[slot]) slot = (slot + 1) & (this.#slots.length - 1);
      this.#slots[slot] = node;
    }
  }
}

const get = (pages: (Float64Array | Int32Array)[], node: number): number =>
  (pages[pageOf(node)] as Int32Array)[indexInPage(node)] as number;
const put = (pages: (Float64Array | Int32Array)[], node: number, value: number) => {
  (pages[pageOf(node)] as Int32Array)[indexInPage(node)] = value;
};

export interface Step {
  node: number;
  /** How many nodes this step completes: a node without children, and each ancestor whose last descendant it is. */
  completed: number;
}

/** Visits all nodes depth-first, in display order. It is iterative, because a tree may be tens of thousands of levels deep. */
export function* traverse(skeleton: Skeleton): Generator<Step, void> {
  const ancestors: number[] = [];
  let node = skeleton.firstChild(0);
  while (node !== 0) {
    const child = skeleton.firstChild(node);
    if (child !== 0) {
      yield { node, completed: 0 };
      ancestors.push(node);
      node = child;
      continue;
    }
    let last = node;
    let completed = 1;
    while (skeleton.nextSibling(last) === 0 && ancestors.length > 0) {
      last = ancestors.pop() as number;
      completed++;
    }
    yield { node, completed };
    node = skeleton.nextSibling(last);
  }
}
