import { Route, Routes } from 'react-router';
import NotFound from '../ui/not-found.tsx';
import { ForAdministrators } from '../ui/states.tsx';
import { CreateTenant } from './create.tsx';
import { TenantDetail } from './detail.tsx';
import { EditTenant } from './edit.tsx';
import { TenantList } from './list.tsx';
import { WithTree } from './tree.tsx';
import './tenants.css';

/** /tenants, /tenants/new, /tenants/:id, /tenants/:id/edit */
export default function Tenants() {
  return (
    <ForAdministrators>
      <Routes>
        <Route path="new" element={<CreateTenant />} />
        <Route path=":id/edit" element={<EditTenant />} />
        <Route element={<WithTree />}>
          <Route index element={<TenantList />} />
          <Route path=":id" element={<TenantDetail />} />
        </Route>
        <Route path="*" element={<NotFound />} />
      </Routes>
    </ForAdministrators>
  );
}
