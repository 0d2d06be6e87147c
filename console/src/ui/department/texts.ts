import { defineTexts } from '../../language.ts';

/** The texts of the tree of departments and of the picker. */
export const departmentTexts = defineTexts({
  zh: {
    unnamed: (id: number) => `未命名部门 ${id}`,
    disabled: '停用',
    loadMore: '加载更多部门',
    treeCount: (count: number) => `${count} 人`,
    placeholder: '选择部门，或输入名称搜索',
    tree: '部门列表',
    none: '暂无部门',
    notFound: '未找到部门',
    topLevel: '顶级部门',
    moreResults: (count: number) => `已显示前 ${count} 个结果，可输入更完整的名称缩小范围。`,
    loadMoreResults: '加载更多结果',
  },
  en: {
    unnamed: (id: number) => `Unnamed department ${id}`,
    disabled: 'Disabled',
    loadMore: 'Load more departments',
    treeCount: (count: number) => (count === 1 ? '1 member' : `${count} members`),
    placeholder: 'Select a department or search by name',
    tree: 'Departments',
    none: 'No departments yet',
    notFound: 'No departments found',
    topLevel: 'Top level',
    moreResults: (count: number) => `The first ${count} results are shown. Enter more of the name to narrow them down.`,
    loadMoreResults: 'Load more results',
  },
});
