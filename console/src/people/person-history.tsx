import { useTexts } from '../language.ts';
import { Card } from '../ui/card.tsx';
import { changeTexts } from '../ui/change-texts.ts';
import { RecordHistory } from '../ui/record-history.tsx';

/** The changes of a user. The page of a deleted user shows them too. */
export function PersonHistory({ id, tenantId }: { id: number; tenantId: string | undefined }) {
  const t = useTexts(changeTexts);
  return (
    <Card title={t.history}>
      <RecordHistory resource="user" id={id} tenantId={tenantId} />
    </Card>
  );
}
