package io.caravan.torture.model;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether a store kept its guarantees. Every acknowledged change must be present, in order, with the right
 * bytes. Each change in flight must have taken effect completely or not at all. The store must contain only data that
 * was sent, and must not have lost any data that a client has read.
 */
public final class Checker {
    private final Lists lists;
    private final boolean smallDisk;

    /**
     * Creates a checker.
     *
     * @param smallDisk whether appends may be rejected for lack of space
     */
    public Checker(Lists lists, boolean smallDisk) {
        this.lists = lists;
        this.smallDisk = smallDisk;
    }

    /**
     * The result of the check of one round.
     *
     * @param problems empty if the store kept its guarantees
     * @param kept number of intents that took effect without an acknowledgment
     */
    public record Verdict(List<String> problems, long kept) {}

    /**
     * Checks the contents found in the store against the earlier contents and all requests recorded since then.
     *
     * @param model the earlier contents; updated to the current contents
     */
    public Verdict check(StoreModel model, Ledger ledger, Contents found) {
        List<String> problems = new ArrayList<>(ledger.problems());
        checkRejections(ledger, problems);
        List<Sightings> sightings = sightingsByOwner(ledger);
        long kept = 0;
        for (int worker = 0; worker < lists.workers(); worker++) {
            WorkerCheck check = new WorkerCheck(
                    lists.of(worker), model, ledger.worker(worker), ledger.closed, sightings.get(worker), found);
            kept += check.run();
            problems.addAll(check.problems());
        }
        found.lists().keySet().stream()
                .filter(id -> !lists.known(id))
                .forEach(id -> problems.add("list " + id + " exists, but was never written"));
        return new Verdict(problems, kept);
    }

    private void checkRejections(Ledger ledger, List<String> problems) {
        String words = ledger.firstRejection;
        if (words == null) {
            return;
        }
        if (!smallDisk) {
            problems.add("a change was rejected for lack of space, although there is enough space: " + words);
        }
        if (!words.contains("space")) {
            problems.add("a change was rejected for lack of space, but the message does not mention space: " + words);
        }
    }

    private List<Sightings> sightingsByOwner(Ledger ledger) {
        List<Sightings> byOwner =
                Stream.generate(Sightings::new).limit(lists.workers()).toList();
        ledger.sightings.forEach(
                sighting -> byOwner.get(lists.owner(sighting.id())).add(sighting));
        return byOwner;
    }

    /**
     * Checks one worker's lists. They must result from a prefix of its intents: all intents up to the last acknowledged
     * one, and as many further intents as are needed to explain the contents found and the other workers' reads.
     */
    private static final class WorkerCheck {
        private static final int MAX_LISTS_SHOWN = 5;
        private static final int MAX_INTENTS_SHOWN = 12;

        private final List<Long> ids;
        private final StoreModel model;
        private final Ledger.WorkerRecord record;
        private final List<Intent> intents;
        private final boolean closed;
        private final Sightings sightings;
        private final Contents found;
        private final List<String> problems = new ArrayList<>();
        private final Set<Long> differing = new LinkedHashSet<>();
        private int done;
        private boolean explained;
        /** The sightings that no state explained when the model last matched the contents found. */
        private List<String> contradicted = List.of();

        /**
         * Creates a check of one worker's lists.
         *
         * @param model the earlier contents; updated to the expected contents
         * @param closed whether all intents must have taken effect because the store was then closed cleanly
         */
        WorkerCheck(
                List<Long> ids,
                StoreModel model,
                Ledger.WorkerRecord record,
                boolean closed,
                Sightings sightings,
                Contents found) {
            this.ids = ids;
            this.model = model;
            this.record = record;
            this.intents = record.intents();
            this.closed = closed;
            this.sightings = sightings;
            this.found = found;
        }

        /** Returns the problems that the check has found; empty if there are none. */
        public List<String> problems() {
            return problems;
        }

        /** Runs the check; returns the number of intents that took effect without an acknowledgment. */
        public long run() {
            int certain = certainCount();
            while (done < certain) {
                apply(intents.get(done), true);
            }
            ids.forEach(this::compare);
            List<String> story = differing.isEmpty() ? List.of() : story(certain);
            long kept = 0;
            while (!explainedNow() && done < intents.size()) {
                Intent intent = intents.get(done);
                kept += apply(intent, false) ? 1 : 0;
                intent.operations().forEach(operation -> compare(operation.id()));
            }
            if (!explained) {
                problems.addAll(contradicted.isEmpty() ? story : contradicted);
            }
            return kept;
        }

        /** Whether the intents applied so far explain the contents found and what the other workers have read. */
        private boolean explainedNow() {
            sightings.explainAll(model, done);
            if (differing.isEmpty()) {
                contradicted = unexplainedSightings();
                explained = contradicted.isEmpty();
            }
            return explained;
        }

        /** Returns the number of intents that must have taken effect. */
        private int certainCount() {
            int certain = intents.size();
            while (certain > 0 && !closed && !acknowledged(intents.get(certain - 1))) {
                certain--;
            }
            return certain;
        }

        private boolean acknowledged(Intent intent) {
            Long result = record.result(intent);
            return result != null && result != StoreModel.REJECTED && result != StoreModel.NO_SPACE;
        }

        /** Applies the next intent to the model; returns false if the store rejected the intent for lack of space. */
        private boolean apply(Intent intent, boolean mustHaveResult) {
            intent.operations().forEach(operation -> sightings.explain(operation.id(), model, done));
            done++;
            Long result = record.result(intent);
            if (result != null && result == StoreModel.NO_SPACE) {
                return false;
            }
            checkResult(intent, result, model.apply(intent), mustHaveResult);
            return true;
        }

        private void checkResult(Intent intent, @Nullable Long result, long should, boolean mustHaveResult) {
            if (result == null) {
                if (mustHaveResult && should != StoreModel.REJECTED) {
                    problems.add(intent + " was never acknowledged, though a later one or a clean close was");
                }
            } else if (should != StoreModel.UNSPECIFIED && result != should) {
                problems.add(intent + " got the result " + words(result) + " instead of " + words(should));
            }
        }

        private static String words(long result) {
            return result == StoreModel.REJECTED ? "a sequence conflict" : Long.toString(result);
        }

        private void compare(long id) {
            if (difference(id) == null) {
                differing.remove(id);
            } else {
                differing.add(id);
            }
        }

        private @Nullable String difference(long id) {
            ListModel should = model.list(id);
            ListModel is = found.list(id);
            if (should == null || is == null) {
                return should == is ? null : should == null ? "should not be there" : "is missing";
            }
            return should.difference(is);
        }

        private List<String> unexplainedSightings() {
            return sightings.unexplained().stream()
                    .map(sighting -> "list " + sighting.id() + ": " + sighting.words()
                            + "; no state that survived the crash matches this after the changes that had been"
                            + " acknowledged by then")
                    .toList();
        }

        /** Describes how the lists differ from the acknowledged contents, and which intents changed them last. */
        private List<String> story(int certain) {
            List<String> story = new ArrayList<>();
            story.add(differing.size() + " lists are not as acknowledged, and none of the" + " "
                    + (intents.size() - certain) + " intents in flight explains it:");
            differing.stream().limit(MAX_LISTS_SHOWN).forEach(id -> {
                story.add("list " + id + " " + difference(id));
                describeIntents(id, intents.subList(0, certain), "acknowledged", story);
                describeIntents(id, intents.subList(certain, intents.size()), "in flight", story);
            });
            return story;
        }

        private static void describeIntents(long id, List<Intent> intents, String state, List<String> story) {
            List<Intent> touching =
                    intents.stream().filter(intent -> intent.touches(id)).toList();
            touching.stream()
                    .skip(Math.max(0, touching.size() - MAX_INTENTS_SHOWN))
                    .forEach(intent -> story.add("    " + state + ": " + intent));
        }
    }
}
