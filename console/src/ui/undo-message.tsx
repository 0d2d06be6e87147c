import { UndoOutlined } from '@ant-design/icons';
import { Button } from 'antd';
import { useTexts } from '../language.ts';
import { uiTexts } from './texts.ts';

/** A success message with a button. `onUndo` replaces the message, so there is no second click. */
export function UndoMessage({ text, onUndo }: { text: string; onUndo: () => void }) {
  const t = useTexts(uiTexts);
  return (
    <span className="undo-message">
      {text}
      <Button type="link" size="small" icon={<UndoOutlined />} onClick={onUndo}>
        {t.undo}
      </Button>
    </span>
  );
}
