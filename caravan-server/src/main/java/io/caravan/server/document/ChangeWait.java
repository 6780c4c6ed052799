package io.caravan.server.document;

import io.caravan.catalog.DocumentName;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Waits for changes to documents on behalf of a client. Checks the documents once at the start and again after each
 * change, one check at a time, until the wait expires or is closed. To miss no change, the wait subscribes to a
 * document before it checks the document.
 *
 * <p>Used only on a single event loop. Between checks, a wait uses only a timer and an entry in the list of waiting
 * readers.
 */
public final class ChangeWait {
    private final ScheduledExecutorService loop;
    private final int most;
    private final BiFunction<DocumentName, Runnable, Runnable> observe;
    private final Consumer<List<DocumentName>> check;
    private final Runnable release;
    /** The actions that cancel the subscriptions, by document. */
    private final Map<DocumentName, Runnable> subscriptions = new HashMap<>();

    private final Set<DocumentName> changed = new LinkedHashSet<>();
    private Stage stage = Stage.WAITING;
    private boolean checking = true;
    private @Nullable Future<?> timer;

    private enum Stage {
        WAITING,
        /** The wait has expired and released its resources, but the final check has not started yet. */
        EXPIRED,
        OVER
    }

    /**
     * Creates a wait that has not started.
     *
     * @param most maximum number of documents in one check
     * @param observe subscribes to a document, like {@link DocumentService#onChange}
     * @param check starts a check of these documents or, if there are none, the final check; calls {@link #checked} or
     *     {@link #close} when done
     * @param release releases what the client holds while it waits; runs once, when the wait expires or is closed
     */
    public ChangeWait(
            ScheduledExecutorService loop,
            int most,
            BiFunction<DocumentName, Runnable, Runnable> observe,
            Consumer<List<DocumentName>> check,
            Runnable release) {
        this.loop = loop;
        this.most = most;
        this.observe = observe;
        this.check = check;
        this.release = release;
    }

    /**
     * Begins the wait by checking these documents.
     *
     * @param limit maximum duration of the wait, or null for no limit
     * @param atLimit runs when the limit is reached, and calls {@link #expire}
     */
    public void begin(Collection<DocumentName> names, @Nullable Duration limit, Runnable atLimit) {
        if (stage == Stage.WAITING && limit != null) {
            timer = loop.schedule(atLimit, limit.toNanos(), TimeUnit.NANOSECONDS);
        }
        checked(names);
    }

    /** Schedules a check of these documents. The check starts when the check in progress, if any, has ended. */
    public void changed(Collection<DocumentName> names) {
        changed.addAll(names);
        checkIfDue();
    }

    /** Records that the check in progress has ended, and schedules another check of these documents, if any. */
    public void checked(Collection<DocumentName> again) {
        checking = false;
        changed(again);
    }

    public void forget(DocumentName name) {
        changed.remove(name);
        Runnable cancel = subscriptions.remove(name);
        if (cancel != null) {
            cancel.run();
        }
    }

    /** Ends the wait with a final check, which starts after the check in progress, if any. */
    public void expire() {
        if (stage == Stage.WAITING) {
            stage = Stage.EXPIRED;
            release();
            checkIfDue();
        }
    }

    /** Ends the wait without another check. */
    public void close() {
        Stage before = stage;
        stage = Stage.OVER;
        if (before == Stage.WAITING) {
            release();
        }
    }

    private void release() {
        if (timer != null) {
            timer.cancel(false);
        }
        subscriptions.values().forEach(Runnable::run);
        subscriptions.clear();
        changed.clear();
        release.run();
    }

    private void checkIfDue() {
        if (checking || stage == Stage.OVER || stage == Stage.WAITING && changed.isEmpty()) {
            return;
        }
        checking = true;
        List<DocumentName> names = List.of();
        if (stage == Stage.EXPIRED) {
            stage = Stage.OVER;
        } else {
            names = changed.stream().limit(most).toList();
            names.forEach(changed::remove);
            names.forEach(this::observe);
        }
        check.accept(names);
    }

    private void observe(DocumentName name) {
        subscriptions.computeIfAbsent(name, any -> observe.apply(name, () -> loop.execute(() -> written(name))));
    }

    private void written(DocumentName name) {
        // If the subscription is closed, the wait has ended or no longer includes the document.
        if (subscriptions.remove(name) != null) {
            changed(List.of(name));
        }
    }
}
