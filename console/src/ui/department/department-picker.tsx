import { Button, Select, Spin } from 'antd';
import {
  type AriaAttributes,
  type ComponentProps,
  createContext,
  type KeyboardEvent,
  useContext,
  useId,
  useRef,
  useState,
} from 'react';
import type { Child, Dept } from '../../api.ts';
import { useListFormat, useTexts } from '../../language.ts';
import { useDepartmentPaths } from '../department-path.tsx';
import { getErrorMessage } from '../use-notify.ts';
import { DepartmentLabel, DepartmentOption } from './department-label.tsx';
import { PickerTree } from './picker-tree.tsx';
import { departmentTexts } from './texts.ts';
import { createTreeStore, type TreeStore } from './tree-store.ts';
import { useDepartmentSearch } from './use-department-search.ts';
import './department.css';

interface CommonProps {
  /** Set by Form.Item. */
  id?: string;
  placeholder?: string;
  'aria-label'?: string;
  disabled?: boolean;
  className?: string;
  autoFocus?: boolean;
  /** Why a department cannot be selected; undefined if it can. */
  getDisabledReason?: (dept: Dept) => string | undefined;
  /** Shown in the tree while nothing is selected. */
  initialId?: number;
  /** Offers the departments of this time instead of the current ones. */
  asOf?: string | undefined;
}

interface SingleProps extends CommonProps {
  value?: number | null;
  onChange?: (deptId: number | null) => void;
}

interface MultipleProps extends CommonProps {
  value?: number[];
  onChange?: (deptIds: number[]) => void;
}

/** Selects a department of the current tenant, from the tree or by a search. The field then shows its path before its name. */
export function DepartmentPicker({ value, onChange, ...props }: SingleProps) {
  return (
    <Picker
      {...props}
      multiple={false}
      value={value == null ? [] : [value]}
      onChange={([deptId = null]) => onChange?.(deptId)}
    />
  );
}

export function DepartmentMultiPicker({ value = [], onChange, ...props }: MultipleProps) {
  return <Picker {...props} multiple value={value} onChange={(deptIds) => onChange?.(deptIds)} />;
}

/** ARIA attributes of the text field. While its popup shows a tree, they replace antd's, which are those of a listbox. */
const FieldAria = createContext<AriaAttributes>({});

function Field(props: ComponentProps<'input'>) {
  const active = props['aria-activedescendant'];
  // antd names an option that does not exist if none can be selected.
  const existing = active?.endsWith('_-1') ? undefined : active;
  return <input {...props} aria-activedescendant={existing} {...useContext(FieldAria)} />;
}

const FIELD_COMPONENTS = { input: Field };

interface PickerProps extends CommonProps {
  multiple: boolean;
  value: number[];
  onChange: (deptIds: number[]) => void;
}

/** One opening of the popup. Each has a new tree, because departments may have changed since the previous one. */
interface Opening {
  count: number;
  tree: TreeStore;
  revealedId: number | undefined;
}

/** The keys of the tree. All others belong to the text field. */
const TREE_KEYS = new Set([
  'ArrowUp',
  'ArrowDown',
  'ArrowLeft',
  'ArrowRight',
  'PageUp',
  'PageDown',
  'Home',
  'End',
  'Enter',
]);

/** The popup shows the tree until something is typed, then the results of the search. The text field keeps the focus. */
function Picker({ multiple, value, onChange, getDisabledReason, initialId, asOf, ...props }: PickerProps) {
  const t = useTexts(departmentTexts);
  const formatList = useListFormat();
  const treeId = useId();
  const treeKeys = useRef<(event: KeyboardEvent) => void>(null);
  const [activeRow, setActiveRow] = useState<string>();
  const [open, setOpen] = useState(false);
  const [opening, setOpening] = useState<Opening>();
  const [text, setText] = useState('');
  const keyword = text.trim();
  const search = useDepartmentSearch(keyword, asOf);
  const paths = useDepartmentPaths(value);
  // Shown until the paths of the selected departments are loaded.
  const [knownPaths] = useState(() => new Map<number, string[]>());
  const getPath = (id: number) => paths.get(id)?.map(({ name }) => name) ?? knownPaths.get(id) ?? [`#${id}`];

  const handleOpenChange = (next: boolean) => {
    setOpen(next);
    if (!next) return setText('');
    setOpening({
      count: (opening?.count ?? 0) + 1,
      tree: createTreeStore(asOf),
      revealedId: value.at(-1) ?? initialId,
    });
  };
  const selectFromTree = (tree: TreeStore, node: Child) => {
    const { deptId } = node;
    if (getDisabledReason?.(node)) return;
    const path = [...tree.getAncestors(deptId).reverse(), deptId];
    knownPaths.set(
      deptId,
      path.map((id) => tree.getNode(id)?.deptName ?? '…'),
    );
    if (multiple) return onChange(value.includes(deptId) ? value.filter((id) => id !== deptId) : [...value, deptId]);
    if (value[0] !== deptId) onChange([deptId]);
    handleOpenChange(false);
  };
  /** A search result was selected, or something was removed. */
  const handleChange = (deptIds: number[]) => {
    for (const { deptId, deptName, pathNames = [] } of search.rows) knownPaths.set(deptId, [...pathNames, deptName]);
    onChange(deptIds);
    const added = deptIds.find((id) => !value.includes(id));
    // A picker of one department closes. One of several shows the tree again, with what was found.
    if (!multiple || added === undefined) return;
    setText('');
    if (opening) setOpening({ ...opening, revealedId: added });
  };
  const handleKeyDown = (event: KeyboardEvent) => {
    if (!open || event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') {
      // Close the popup, but not the dialog around it. antd would close the popup only after a delay, and not at all if another
      // key is pressed before that.
      event.stopPropagation();
      handleOpenChange(false);
    } else if (keyword && event.key === 'PageDown' && search.hasMore) {
      event.preventDefault();
      search.loadMore();
    } else if (!keyword && TREE_KEYS.has(event.key) && !(event.key === 'Enter' && event.repeat))
      treeKeys.current?.(event);
  };

  const aria: AriaAttributes = {
    // What is selected is not the text of the field.
    'aria-description': formatList(value.map((id) => getPath(id).join(' / '))) || undefined,
  };
  if (!keyword) {
    aria['aria-haspopup'] = 'tree';
    aria['aria-controls'] = open ? treeId : undefined;
    aria['aria-owns'] = undefined;
    aria['aria-activedescendant'] = open ? activeRow : undefined;
  }
  return (
    <FieldAria value={aria}>
      <Select<number | number[]>
        placeholder={t.placeholder}
        {...props}
        {...(multiple ? { mode: 'multiple' as const } : {})}
        value={multiple ? value : (value[0] ?? null)}
        onChange={(selected: number | number[] | undefined) => handleChange([selected ?? []].flat())}
        allowClear
        open={open}
        onOpenChange={handleOpenChange}
        onInputKeyDown={handleKeyDown}
        components={FIELD_COMPONENTS}
        labelRender={({ value }) => <DepartmentLabel path={getPath(value as number)} />}
        showSearch={{ filterOption: false, searchValue: text, onSearch: setText }}
        loading={search.isLoading}
        // antd would select the first result again when more are loaded, and Enter would then select the wrong one.
        defaultActiveFirstOption={search.hasOnePage}
        notFoundContent={
          search.isLoading ? <Spin size="small" /> : search.error ? getErrorMessage(search.error) : t.notFound
        }
        options={search.rows.map((dept) => {
          const disabledReason = getDisabledReason?.(dept);
          return {
            value: dept.deptId,
            label: <DepartmentOption {...dept} />,
            ...(disabledReason ? { disabled: true, title: disabledReason } : {}),
          };
        })}
        popupMatchSelectWidth={360}
        classNames={{ popup: { root: 'department-picker-popup' } }}
        popupRender={(results) =>
          keyword ? (
            <>
              {results}
              {search.hasMore && <MoreResults {...search} />}
            </>
          ) : (
            opening && (
              <PickerTree
                key={opening.count}
                id={treeId}
                tree={opening.tree}
                value={value}
                multiple={multiple}
                revealedId={opening.revealedId}
                onSelect={(node) => selectFromTree(opening.tree, node)}
                getDisabledReason={getDisabledReason}
                keyHandler={treeKeys}
                onActiveRow={setActiveRow}
              />
            )
          )
        }
      />
    </FieldAria>
  );
}

type MoreProps = Pick<ReturnType<typeof useDepartmentSearch>, 'rows' | 'error' | 'isLoadingMore' | 'loadMore'>;

/** Shown below the results if there are more. The text field keeps the focus, so a key loads them too. */
function MoreResults({ rows, error, isLoadingMore, loadMore }: MoreProps) {
  const t = useTexts(departmentTexts);
  return (
    <p className="department-picker-more">
      <span className="secondary" role="status">
        {error ? getErrorMessage(error) : t.moreResults(rows.length)}
      </span>{' '}
      <Button
        type="link"
        size="small"
        tabIndex={-1}
        title="PageDown"
        aria-keyshortcuts="PageDown"
        loading={isLoadingMore}
        onMouseDown={(event) => event.preventDefault()}
        onClick={loadMore}
      >
        {t.loadMoreResults}
      </Button>
    </p>
  );
}
