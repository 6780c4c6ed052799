package io.caravan.server.archive.push;

import static io.caravan.server.archive.push.ArchivedDocuments.name;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.server.archive.Claims;
import io.caravan.server.archive.format.ArchiveKeys;
import io.caravan.server.archive.format.Manifest.Tombstone;
import io.caravan.server.archive.object.MemoryObjectStore;
import io.caravan.server.archive.object.ObjectCall;
import io.caravan.server.archive.object.ObjectFault;
import io.caravan.server.archive.object.ObjectFaults;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.document.DeletionRecord;
import io.caravan.server.document.StoreIdentity;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class DeletionPushTest {
    @AutoClose
    private final ArchivedDocuments server = new ArchivedDocuments();

    private final MemoryObjectStore client = server.client;
    private final DocumentUploader uploader = new DocumentUploader(
            server.documents,
            Claims.claim(client, StoreIdentity.of(server.store), "test", InstantSource.system()),
            InstantSource.system(),
            new AtomicLong(1)::getAndIncrement);

    private void failToArchive(String document, ObjectCall at) {
        client.faults((number, call, key) -> call == at ? ObjectFault.REJECTED : ObjectFault.NONE);
        assertThatThrownBy(() -> uploader.upload(name(document), true)).isInstanceOf(ObjectStoreException.class);
        client.faults(ObjectFaults.NONE);
    }

    private DeletionRecord deleted(String document) {
        server.delete(document);
        return server.documents.pendingDeletions().get(0);
    }

    private @Nullable Tombstone tombstone(String document) {
        return server.manifest(document).tombstone();
    }

    @Test
    void lateFirstManifestDoesNotRestoreDeletedDocument() {
        server.push("a", "1");
        failToArchive("a", ObjectCall.PUT_IF);
        assertThat(uploader.upload(deleted("a"))).isTrue();
        assertThat(tombstone("a")).isNotNull();
        assertThatThrownBy(() -> client.putIf(ArchiveKeys.manifest(name("a")), new byte[1], null))
                .isInstanceOf(ObjectStoreException.class);
        assertThat(server.documents.pendingDeletions()).isEmpty();
        server.push("a", "new");
        uploader.upload(name("a"), true);
        assertThat(tombstone("a")).isNull();
        assertThat(server.values("a")).containsExactly("new");
    }

    /** The deletion of a never-archived incarnation must also cover the previous, archived incarnation. */
    @Test
    void deletionOfUnarchivedDocumentCoversPreviousIncarnation() {
        server.push("a", "1");
        uploader.upload(name("a"), true);
        server.documents.deletionArchived(deleted("a"));
        server.push("a", "other");
        failToArchive("a", ObjectCall.PUT);
        assertThat(uploader.upload(deleted("a"))).isTrue();
        assertThat(tombstone("a").incarnation()).isEqualTo(2);
    }

    @Test
    void earlierDeletionKeepsRecreatedDocument() {
        server.push("a", "1");
        uploader.upload(name("a"), true);
        DeletionRecord deletion = deleted("a");
        server.push("a", "new");
        uploader.upload(name("a"), true);
        assertThat(uploader.upload(deletion)).isFalse();
        assertThat(tombstone("a")).isNull();
    }

    @Test
    void writesTombstoneOnce() {
        server.push("a", "1");
        uploader.upload(name("a"), true);
        DeletionRecord deletion = deleted("a");
        assertThat(uploader.upload(deletion)).isTrue();
        assertThat(uploader.upload(deletion)).isFalse();
    }
}
