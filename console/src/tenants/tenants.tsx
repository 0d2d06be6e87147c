import { Route, Routes, useSearchParams } from 'react-router';
import { useTexts } from '../language.ts';
import { AdministratorsOnly } from '../ui/administrators-only.tsx';
import NotFound from '../ui/not-found.tsx';
import { CreateTenant } from './create-tenant.tsx';
import { EditTenant } from './edit-tenant.tsx';
import { TenantDetail } from './tenant-detail.tsx';
import { TenantList } from './tenant-list.tsx';
import { TenantTreeLayout } from './tenant-tree.tsx';
import { tenantsTexts } from './texts.ts';
import './tenants.css';

/** /tenants, /tenants/new, /tenants/:id, /tenants/:id/edit */
export default function Tenants() {
  const t = useTexts(tenantsTexts);
  const [search] = useSearchParams();
  return (
    <AdministratorsOnly title={t.title}>
      <Routes>
        <Route path="new" element={<CreateTenant key={search.get('parent')} />} />
        <Route path=":id/edit" element={<EditTenant />} />
        <Route element={<TenantTreeLayout />}>
          <Route index element={<TenantList />} />
          <Route path=":id" element={<TenantDetail />} />
        </Route>
        <Route path="*" element={<NotFound />} />
      </Routes>
    </AdministratorsOnly>
  );
}
