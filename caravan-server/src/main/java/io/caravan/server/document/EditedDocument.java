package io.caravan.server.document;

import static io.caravan.server.document.DocumentAttributes.ARCHIVED;
import static io.caravan.server.document.DocumentAttributes.DELETED;
import static io.caravan.server.document.DocumentAttributes.FENCE;
import static io.caravan.server.document.DocumentAttributes.FORK;
import static io.caravan.server.document.DocumentAttributes.FORKS;
import static io.caravan.server.document.DocumentAttributes.ORIGIN;
import static io.caravan.server.document.DocumentAttributes.PRESENT;
import static io.caravan.server.document.DocumentAttributes.TIMESTAMPS;

import io.caravan.catalog.Attributes;
import io.caravan.catalog.DocumentEdit;
import io.caravan.catalog.DocumentName;
import io.caravan.catalog.DocumentState;
import io.caravan.server.document.DocumentAttributes.Fence;
import io.caravan.server.document.DocumentAttributes.Fork;
import io.caravan.server.document.DocumentException.Reason;
import io.caravan.server.document.space.Space;
import io.caravan.server.document.space.SpaceSetting;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One document within a write: its state after the edits so far, and the operations on it. An expired document counts
 * as nonexistent, and any write deletes it.
 */
public final class EditedDocument {
    final DocumentEdits edits;
    private final DocumentName name;
    private final DocumentEdit edit;
    private final @Nullable DocumentState before;
    /** The values that the write has appended, which are the last values of the document. */
    private List<byte[]> appended = List.of();
    /** Whether {@link #appended} is a list of this object, and not the argument of the only append. */
    private boolean joined;

    /** The rules of the document's space; null if the document belongs to no space. */
    private final @Nullable SpaceRules rules;

    private boolean used;
    /** Whether the time of the last use is kept for the document after the write. */
    private boolean tracked;
    /** Withdraws the record of this use; null if the write has recorded none. */
    private @Nullable Runnable withdrawUse;
    /** Whether another document has taken over this document's list. */
    private boolean handedOver;

    private boolean ignoresFence;

    EditedDocument(DocumentEdits edits, DocumentName name, DocumentEdit edit, @Nullable Space space) {
        this.edits = edits;
        this.name = name;
        this.edit = edit;
        this.before = edit.state();
        this.rules = space == null ? null : new SpaceRules(this, space);
    }

    public DocumentName name() {
        return name;
    }

    @Nullable
    SpaceRules rules() {
        return rules;
    }

    /** Returns the document's own list after the edits so far. */
    @Nullable
    DocumentState list() {
        return edit.state();
    }

    /** Appends values without checks; if {@code arriving} is false, they arrived earlier, at an unknown time. */
    private void add(List<byte[]> values, boolean arriving) {
        if (values.isEmpty()) {
            return;
        }
        boolean timed = arriving && rules != null && rules.space().settings().has(SpaceSetting.TIMESTAMPS);
        boolean stamped = (timed || attributes().has(TIMESTAMPS)) && turnTimestamps(timed);
        List<byte[]> stored = values;
        if (stamped) {
            long now = edits.service.expiry.nowMillis();
            stored = values.stream().map(value -> Timestamps.stored(value, now)).toList();
        }
        for (byte[] value : stored) {
            edit.append(value);
        }
        if (rules != null) {
            rules.appended(stored, stamped ? Timestamps.BYTES : 0);
        }
    }

    /** Turns timestamps on or off for the next values, if possible, and returns whether they are on. */
    private boolean turnTimestamps(boolean on) {
        DocumentInfo info = evenDeleted();
        Timestamps before = attributes().timestamps();
        Timestamps after = before.with(on, info == null ? 0 : info.nextSequence());
        if (after != before) {
            edit.attributes(attributes().with(TIMESTAMPS, after).raw());
        }
        return after.on();
    }

    /** Replaces all attributes except {@code TIMESTAMPS}, which describes how the values are stored. */
    void set(DocumentAttributes attributes) {
        edit.attributes(
                attributes.with(TIMESTAMPS, attributes().get(TIMESTAMPS)).raw());
    }

    /** Removes the document or redirect, without checks and without a record for the archive. */
    void drop() {
        edit.delete();
        if (rules != null) {
            rules.deleted();
        }
    }

    DocumentException rejected(Reason reason, String problem) {
        return rejected(reason, problem, 0, 0);
    }

    DocumentException rejected(Reason reason, String problem, long expected, long actual) {
        return new DocumentException(reason, name, problem, expected, actual);
    }

    /** Returns the state of the document like {@link #info()}; throws {@link Reason#NOT_FOUND} if it does not exist. */
    DocumentInfo existing() {
        DocumentInfo info = info();
        if (info == null) {
            throw rejected(Reason.NOT_FOUND, "does not exist");
        }
        return info;
    }

    /**
     * Returns the state of the document, or null if it does not exist.
     *
     * @throws DocumentException {@link Reason#GONE}, {@link Reason#RESTORING}
     */
    public @Nullable DocumentInfo info() {
        DocumentInfo info = evenDeleted();
        return info == null ? null : visible(name, info);
    }

    static DocumentInfo visible(DocumentName name, DocumentInfo info) {
        if (info.attributes().deleted()) {
            throw new DocumentException(Reason.GONE, name, "is deleted; its forks still need its values");
        }
        RedirectTarget moved = info.attributes().movedTo();
        if (moved != null) {
            throw new MovedException(name, moved);
        }
        if (info.attributes().restoring()) {
            throw new DocumentException(
                    Reason.RESTORING,
                    name,
                    info.attributes().importing()
                            ? "is being imported, and its last part is missing"
                            : "is being restored from the archive; try again in a moment");
        }
        return info;
    }

    /** Returns the state of the document, even if it is deleted, being restored, or a redirect; null if none exists. */
    @Nullable
    DocumentInfo evenDeleted() {
        DocumentState state = edit.state();
        return state == null ? null : DocumentInfo.of(state);
    }

    /** Returns the attributes of the document, even if it is invisible; {@code NONE} if it does not exist. */
    DocumentAttributes attributes() {
        return attributes(edit.state());
    }

    private static DocumentAttributes attributes(@Nullable DocumentState state) {
        return state == null ? DocumentAttributes.NONE : DocumentAttributes.of(state.attributes());
    }

    /** Whether the document, which may be invisible, has this id. */
    boolean is(long id) {
        DocumentState state = edit.state();
        return state != null && state.id() == id;
    }

    /**
     * Appends values, creating the document if it does not exist, and returns the sequence of the first value.
     *
     * @throws DocumentException {@link Reason#GONE}, {@link Reason#CLOSED}, {@link Reason#NOT_JSON}
     */
    public long append(List<byte[]> values) {
        return append(values, false, true);
    }

    /** Appends values from an archive, without arrival times. */
    public long appendArchived(List<byte[]> values) {
        return append(values, false, false);
    }

    /** Appends values, which are known to be JSON if {@code valid}, and arrive with this write if {@code arriving}. */
    long append(List<byte[]> values, boolean valid, boolean arriving) {
        DocumentInfo before = info();
        if (before != null && before.attributes().closed()) {
            throw closed(before);
        }
        if (!valid && before != null) {
            requireFit(before.attributes(), values);
        }
        used = true;
        add(values, arriving);
        remember(values);
        return before == null ? 0 : before.nextSequence();
    }

    private void remember(List<byte[]> values) {
        if (appended.isEmpty()) {
            appended = values;
        } else {
            appended = joined ? appended : new ArrayList<>(appended);
            joined = true;
            appended.addAll(values);
        }
    }

    private void requireFit(DocumentAttributes attributes, List<byte[]> values) {
        if (!attributes.isJson()) {
            return;
        }
        Prefetch preparation = edits.preparation();
        if (preparation == null) {
            JsonMessages.validate(name, values);
        } else {
            preparation.requireJson(name, values);
        }
    }

    /**
     * Returns a range of the document's values after the edits so far, and extends a sliding expiry. Requires a write
     * with a {@link Prefetch}. The result is empty if the prefetch lacks the values; the write is then repeated.
     *
     * @param range within the document
     * @throws IllegalArgumentException when the write reads more than its {@link Prefetch} allows
     */
    public List<byte[]> values(SequenceRange range) {
        Prefetch preparation = Objects.requireNonNull(edits.preparation(), "a write that reads needs a preparation");
        DocumentInfo info = info();
        if (info == null || range.count() == 0) {
            return List.of();
        }
        used = true;
        long firstAppended = info.nextSequence() - appended.size();
        List<byte[]> values = new ArrayList<>(preparation.values(
                name, info.id(), new SequenceRange(range.from(), Math.min(range.to(), firstAppended))));
        for (long next = Math.max(range.from(), firstAppended); next < range.to(); next++) {
            values.add(appended.get((int) (next - firstAppended)));
        }
        preparation.read(values);
        return values;
    }

    DocumentException closed(DocumentInfo info) {
        return rejected(Reason.CLOSED, "is closed", 0, info.nextSequence());
    }

    /**
     * Trims all values before {@code sequence}, or all values if the document ends before this sequence. The document
     * remains, and its next sequence does not change. Does nothing if the document does not exist.
     *
     * @throws DocumentException {@link Reason#GONE}, {@link Reason#HAS_FORKS}
     */
    public void trimTo(long sequence) {
        DocumentInfo info = info();
        if (info == null || sequence <= info.firstSequence()) {
            return;
        }
        used = true;
        requireNoForks(info.attributes(), "trimmed", "delete");
        if (info.count() > 0) {
            dropBefore(sequence);
        }
    }

    /** Checks that no fork needs the values of this document; the verbs are for the message. */
    void requireNoForks(DocumentAttributes attributes, String done, String instead) {
        if (attributes.forks() > 0) {
            String problem = "cannot be " + done + ": its " + attributes.forks() + " forks need its values; " + instead
                    + " them first";
            throw rejected(Reason.HAS_FORKS, problem, 0, attributes.forks());
        }
    }

    /** Trims all values before {@code sequence}. The document must have no forks, and may be invisible. */
    private void dropBefore(long sequence) {
        DocumentAttributes attributes = attributes();
        Fork fork = attributes.get(FORK);
        if (fork != null) {
            long first = Math.min(sequence, fork.sequence());
            set(attributes.with(FORK, new Fork(fork.sequence(), fork.part(), first, fork.source())));
        }
        edit.trimTo(Math.max(0, sequence - attributes.base()));
    }

    /**
     * Trims the values before {@code sequence} because the space does not retain them. An imported document is then no
     * longer a complete copy, so it loses its origin.
     *
     * @throws DocumentException {@link Reason#TOO_LARGE} when the document replaces a redirect: clients would find the
     *     incomplete document, and the move could neither be completed nor abandoned
     */
    void retire(long sequence) {
        if (edits.migrates && attributesBefore().movedTo() != null) {
            Space space = Objects.requireNonNull(rules).space();
            space.rejected(Space.Counter.REJECTED_SIZES);
            throw rejected(
                    Reason.TOO_LARGE,
                    "cannot return to this server: its space retains fewer values ('" + space.prefix() + "')");
        }
        if (edits.migrates && attributes().origin() != null) {
            set(attributes().with(ORIGIN, null));
        }
        dropBefore(sequence);
    }

    /**
     * Deletes the document, and returns whether it existed. A document with forks becomes invisible immediately, and
     * its values are deleted together with its last fork.
     *
     * @throws DocumentException {@link Reason#GONE}
     */
    public boolean delete() {
        return delete(true);
    }

    /** Deletes the document, but keeps it in the archive. */
    public boolean deleteUnnoted() {
        return delete(false);
    }

    private boolean delete(boolean recorded) {
        DocumentInfo info = info();
        if (info != null) {
            removeOrHide(info, recorded);
        }
        return info != null;
    }

    void removeIfExpired() {
        DocumentInfo info = attributes() == DocumentAttributes.NONE ? null : evenDeleted();
        if (info == null) {
            return;
        }
        Expiry expiry = edits.service.expiry;
        if (expiry.abandoned(info)) {
            abortRestoring();
        } else if (expiry.expired(info)) {
            removeOrHide(info, true);
        }
    }

    private void removeOrHide(DocumentInfo info, boolean recorded) {
        appended = List.of();
        joined = false;
        ArchiveMark mark = info.attributes().archived();
        if (recorded && mark != null) {
            edits.deleted(name, mark, info.nextSequence());
        }
        if (info.attributes().forks() > 0) {
            set(info.attributes().with(ARCHIVED, null).with(DELETED, PRESENT));
        } else {
            remove();
        }
    }

    private void remove() {
        Fork fork = attributes().get(FORK);
        drop();
        if (fork != null) {
            edits.document(fork.source()).countForks(-1);
        }
    }

    /** Changes the number of forks. Removes a deleted document with its last fork, and perhaps its source too. */
    void countForks(long change) {
        if (edit.state() == null) {
            throw new IllegalStateException("document '" + name + "' has forks and does not exist");
        }
        long forks = attributes().forks() + change;
        set(attributes().with(FORKS, forks == 0 ? null : forks));
        if (forks == 0 && attributes().deleted()) {
            remove();
        }
    }

    /** Replaces the attributes, and creates the document if it does not exist; throws {@link Reason#GONE}. */
    public void attributes(DocumentAttributes attributes) {
        info();
        used = true;
        set(attributes);
    }

    /** Stores the mark, without a use of the document, if it still has this id, and returns whether it has. */
    public boolean mark(long id, ArchiveMark mark) {
        if (!is(id) || attributes().deleted()) {
            return false;
        }
        set(attributes().withArchived(mark));
        ignoresFence = true;
        return true;
    }

    /**
     * Creates the document from an archive. The document must not exist yet.
     *
     * @param attributes the attributes, of which only the portable ones are used
     * @param mark the document's state in the archive, or null to make it a new document
     * @param firstSequence sequence of the first value
     * @throws DocumentException {@link Reason#EXISTS}, {@link Reason#GONE}, {@link Reason#RESTORING}
     */
    public void restore(Attributes attributes, @Nullable ArchiveMark mark, long firstSequence, List<byte[]> values) {
        requireMissing();
        arrive(restored(attributes, mark, firstSequence), values);
    }

    void requireMissing() {
        if (info() != null) {
            throw rejected(Reason.EXISTS, "exists, and cannot be restored");
        }
    }

    static DocumentAttributes restored(Attributes attributes, @Nullable ArchiveMark mark, long firstSequence) {
        return DocumentAttributes.of(DocumentAttributes.of(attributes).portable())
                .withStart(firstSequence)
                .with(ARCHIVED, mark);
    }

    /** Sets the attributes, and appends values whose arrival times are unknown; returns the document's id. */
    long arrive(DocumentAttributes attributes, List<byte[]> values) {
        used = true;
        set(attributes);
        add(values, false);
        return Objects.requireNonNull(edit.state()).id();
    }

    /**
     * Appends values of an {@link ImportStep}, sets the attributes, and returns the document's id.
     *
     * @throws DocumentException {@link Reason#NOT_JSON}
     */
    long importPart(DocumentAttributes attributes, List<byte[]> values) {
        edits.migrates = true;
        requireFit(attributes, values);
        return arrive(attributes, values);
    }

    /** Deletes the unfinished import of a replacement of this document, if there is one. */
    void abortReplacement() {
        if (edits.service.catalog.peek(edits.service.replacementName(name)) != null) {
            replacement().abortRestoring();
        }
    }

    /** Returns the invisible document, in the same shard, into which a replacement of this document is imported. */
    EditedDocument replacement() {
        return edits.document(edits.service.replacementName(name));
    }

    /** Deletes the document, and replaces it with another one, whose attributes the caller must then set. */
    void replaceBy(EditedDocument other) {
        DocumentState taken = Objects.requireNonNull(other.edit.state());
        delete();
        info();
        edit.takeOver(other.edit);
        other.handedOver = true;
        if (other.rules != null) {
            other.rules.deleted();
        }
        if (rules != null) {
            rules.tookOver(taken);
        }
    }

    /** Makes the write a step of the document's move, which may change a fenced document, and is a use of it. */
    void beginMoveStep() {
        used = true;
        ignoresFence = true;
        edits.migrates = true;
    }

    /** Checks that the write does not change a document that is being moved, except in a step of the move. */
    void requireUnfenced() {
        if (before != null && !ignoresFence && !before.equals(edit.state())) {
            requireNoFence();
        }
    }

    /** Checks that the document was not fenced before the write. */
    void requireNoFence() {
        Fence fence = attributesBefore().get(FENCE);
        if (fence != null) {
            throw rejected(
                    Reason.MOVING,
                    "is being moved to " + fence.to()
                            + ", and rejects writes until the move has ended: try again in a moment");
        }
    }

    /** Deletes a document that is being restored or imported, and reinstates a redirect that it replaced. */
    boolean abortRestoring() {
        DocumentAttributes attributes = attributes();
        if (attributes.restoring()) {
            drop();
            RedirectTarget moved = attributes.movedTo();
            if (moved != null) {
                set(DocumentAttributes.NONE.withMovedTo(moved));
            }
        }
        return attributes.restoring();
    }

    /** Records the use before the commit, so that the document never seems to have expired when it is visible. */
    void recordUse() {
        DocumentState after = edit.state();
        tracked = used && attributes().tracksUse();
        if (tracked && after != null) {
            withdrawUse = edits.service.expiry.use(after.id());
        }
    }

    /** Withdraws the recorded use if the write was rejected, and otherwise forgets the uses that nothing needs. */
    void ended(boolean accepted) {
        if (!accepted) {
            if (withdrawUse != null) {
                withdrawUse.run();
            }
            return;
        }
        Expiry expiry = edits.service.expiry;
        DocumentState after = edit.state();
        boolean same = after != null && before != null && after.id() == before.id();
        if (before != null && !same && !handedOver) {
            expiry.forget(before.id());
        }
        if (after != null && used && !tracked && (!same || attributesBefore().tracksUse())) {
            expiry.forget(after.id());
        }
    }

    private DocumentAttributes attributesBefore() {
        return attributes(before);
    }
}
