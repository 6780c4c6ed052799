package io.caravan.server.archive.push;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListStore;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.Archiving;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.object.MemoryObjects;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.restore.RestoreProgress;
import io.caravan.server.archive.restore.WholeRestore;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.StoreIdentity;
import io.caravan.testing.CrashStorage;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;

/** Reads the documents of an archive, or restores them into a store. */
final class CrashRestore {
    private CrashRestore() {}

    /** Returns the documents in the manifests and snapshots of the archive. */
    static Map<String, CrashState> archived(Archive archive) {
        Map<String, CrashState> contents = new TreeMap<>();
        archive.manifests().forEach(key -> {
            KeptManifest kept = archive.manifestAt(key);
            Generation latest = kept == null ? null : kept.manifest().latest();
            if (latest != null && kept.manifest().tombstone() == null) {
                contents.put(
                        kept.manifest().name().text(),
                        new CrashState(
                                latest.firstSequence(),
                                Archiving.read(archive, kept.manifest().name(), latest)));
            }
        });
        return contents;
    }

    /** Restores all documents of an archive into a new store, and returns them. */
    static Map<String, CrashState> restored(MemoryObjects objects) throws IOException {
        return restored(objects.client(), new CrashStorage(1));
    }

    /** Restores all missing documents into a store, and returns all documents of the store. */
    static Map<String, CrashState> restored(ObjectStore objects, CrashStorage disk) throws IOException {
        Archive archive = Archive.open(objects);
        RestoreProgress progress = new RestoreProgress();
        try (ListStore store = CrashHost.open(disk)) {
            StoreIdentity.adopt(store, archive.root().store());
            try (DocumentService documents = CrashHost.documents(store)) {
                new WholeRestore(archive, documents, 1, false, progress).run();
                assertThat(progress.figures().faults()).isZero();
                return CrashHost.contents(documents);
            }
        }
    }
}
