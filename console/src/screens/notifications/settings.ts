import type { NotificationSettings, Notifications } from "@casehound/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useWorkspace } from "../../session/workspace.tsx";

const key = ["notifications"];

export function useNotifications() {
  const { client, may } = useWorkspace();
  return useQuery({
    queryKey: key,
    queryFn: ({ signal }) => client.call("getNotifications", { signal }),
    enabled: may("read:case"),
  });
}

function settingsOf({
  email: _email,
  is_mail_set_up: _isSetUp,
  last_mail: _last,
  ...settings
}: Notifications): NotificationSettings {
  return settings;
}

// Saves a change to the settings that were read. If they have changed since, nothing is saved, and they are loaded again.
export function useSaveNotifications(): (read: Notifications, change: Partial<NotificationSettings>) => Promise<void> {
  const { client } = useWorkspace();
  const cache = useQueryClient();
  return async (read, change) => {
    try {
      cache.setQueryData(key, await client.call("updateNotifications", { body: { ...settingsOf(read), ...change } }));
    } catch (error) {
      void cache.invalidateQueries({ queryKey: key });
      throw error;
    }
  };
}
