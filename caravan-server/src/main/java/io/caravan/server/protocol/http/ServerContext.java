package io.caravan.server.protocol.http;

import io.caravan.server.archive.push.Archiver;
import io.caravan.server.archive.restore.RestoreService;
import io.caravan.server.backup.Backups;
import io.caravan.server.config.Setting;
import io.caravan.server.document.DocumentService;
import io.caravan.server.net.ClientInfo;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The services that the endpoints use after the store has been opened.
 *
 * @param archiver null if documents are not archived
 * @param restores null if documents cannot be restored from an archive
 * @param otherClients the connections of other protocols
 * @param settings the current settings of the server, for operators
 */
public record ServerContext(
        DocumentService documents,
        @Nullable Archiver archiver,
        @Nullable RestoreService restores,
        Backups backups,
        Supplier<Stream<ClientInfo>> otherClients,
        List<Setting> settings) {
    public ServerContext {
        settings = List.copyOf(settings);
    }
}
