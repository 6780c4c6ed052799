package io.caravan.server.archive.push;

import io.caravan.testing.simulator.SourceEdit;
import java.util.List;

/** Edits to the source code that each break one guarantee of archiving or pruning. */
enum ArchiveSabotage {
    THE_MANIFEST_BEFORE_THE_SNAPSHOT(
            edit("push/DocumentUploader", "        archive.commit(before, name, put);\n", """
                    // Null when another has pruned it because this commit will be refused.
                    io.caravan.server.archive.object.ObjectStore.Stored held = archive.objects().get(put.key(), 1 << 24);
                    archive.objects().delete(put.key());
                    archive.commit(before, name, put);
                    if (held != null) {
                        archive.objects().put(put.key(), out -> out.write(held.content()));
                    }
            """)),
    THE_MARK_BEFORE_THE_MANIFEST(
            edit("push/DocumentUploader", "        archive.commit(before, name, put);\n", ""),
            edit(
                    "push/DocumentUploader",
                    "        return mark(name, info.id(), snapshot.mark()) ? new Archived(snapshot.mark(), true) : null;",
                    """
                            boolean there = mark(name, info.id(), snapshot.mark());
                            archive.commit(before, name, put);
                            return there ? new Archived(snapshot.mark(), true) : null;
                    """)),
    NO_INCARNATION_BEFORE_THE_FIRST_UPLOAD(
            edit("push/DocumentUploader", "return mark(name, info.id(), first) ? first : null;", "return first;")),
    THE_DELETION_FORGOTTEN_BEFORE_ITS_TOMBSTONE(edit(
            "push/DocumentUploader",
            "        boolean put = retryConflicts(attempt -> putTombstone(deletion));\n"
                    + "        documents.deletionArchived(deletion);\n",
            "        documents.deletionArchived(deletion);\n"
                    + "        boolean put = retryConflicts(attempt -> putTombstone(deletion));\n")),
    DELETION_WITHOUT_ITS_RECORD(new SourceEdit(
            "server/document/DeletionJournal",
            "            deletions.forEach(deletion -> edit.append(LIST_ID, deletion.encode()));\n",
            "")),
    THE_SNAPSHOT_PRUNED_BEFORE_THE_MANIFEST(
            edit("Pruning", "            KeptManifest rest = dryRun ? kept : archive.replace(kept, without);\n", ""),
            edit(
                    "Pruning",
                    "            return rest;\n",
                    "            return dryRun ? kept : archive.replace(kept, without);\n")),
    WHAT_MAY_STILL_BE_COMMITTED_PRUNED(edit(
            "Pruning",
            "                boolean overtaken = key.generation() <= last &&",
            "                boolean overtaken = key.generation() <= last + 1 &&"));

    private final List<SourceEdit> edits;

    ArchiveSabotage(SourceEdit... edits) {
        this.edits = List.of(edits);
    }

    private static SourceEdit edit(String file, String from, String to) {
        return new SourceEdit("server/archive/" + file, from, to);
    }

    List<SourceEdit> edits() {
        return edits;
    }
}
