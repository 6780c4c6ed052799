package io.caravan.bench.torture;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a store kept its promises: all that was acknowledged is there, in order, with the right bytes;
 * nothing is there that was never sent; what was under way is there wholly or not at all.
 */
final class Checker {
    private static final int MAX_LISTS_TOLD = 5;
    private static final int MAX_INTENTS_TOLD = 12;

    private final Lists lists;

    Checker(Lists lists) {
        this.lists = lists;
    }

    /**
     * The verdict.
     *
     * @param problems empty when all is well
     * @param kept intents that had an effect though no acknowledgement was heard
     */
    record Verdict(List<String> problems, long kept) {}

    /**
     * Checks what was found against what was there before and what was said since.
     *
     * @param model what was there before; becomes what is there now
     */
    Verdict check(StoreModel model, Ledger ledger, StoreModel found) {
        List<String> problems = new ArrayList<>(ledger.problems());
        checkOrder(ledger, problems);
        long kept = 0;
        for (int worker = 0; worker < lists.workers(); worker++) {
            kept += check(worker, model, ledger, found, problems);
        }
        found.lists().keySet().stream()
                .filter(id -> !lists.known(id))
                .forEach(id -> problems.add("list " + id + " is there, and nobody ever wrote to it"));
        return new Verdict(problems, kept);
    }

    private void checkOrder(Ledger ledger, List<String> problems) {
        long[] last = new long[lists.workers()];
        for (long number : ledger.acknowledged()) {
            int worker = Intent.worker(number);
            if (number < last[worker]) {
                problems.add(Intent.name(number) + " was acknowledged after " + Intent.name(last[worker]));
            }
            last[worker] = number;
        }
    }

    private long check(int worker, StoreModel model, Ledger ledger, StoreModel found, List<String> problems) {
        List<Intent> intents = ledger.intents(worker);
        int certain = certainCount(intents, ledger);
        for (Intent intent : intents.subList(0, certain)) {
            checkTold(intent, model.apply(intent), ledger, true, problems);
        }
        Set<Long> differing = new LinkedHashSet<>();
        lists.of(worker).forEach(id -> compare(id, model, found, differing));
        List<String> story = differing.isEmpty() ? List.of() : story(differing, model, found, intents, certain);
        long kept = 0;
        for (int i = certain; i < intents.size() && !differing.isEmpty(); i++) {
            Intent intent = intents.get(i);
            checkTold(intent, model.apply(intent), ledger, false, problems);
            intent.operations().forEach(operation -> compare(operation.id(), model, found, differing));
            kept++;
        }
        if (!differing.isEmpty()) {
            problems.addAll(story);
        }
        return kept;
    }

    /** How many of the intents must be there: all up to the last acknowledged one, or simply all after a clean close. */
    private static int certainCount(List<Intent> intents, Ledger ledger) {
        int certain = intents.size();
        while (certain > 0 && !ledger.closed() && !acknowledged(intents.get(certain - 1), ledger)) {
            certain--;
        }
        return certain;
    }

    private static boolean acknowledged(Intent intent, Ledger ledger) {
        Long told = ledger.told(intent);
        return told != null && told != StoreModel.REFUSED;
    }

    private static void checkTold(
            Intent intent, long should, Ledger ledger, boolean mustBeTold, List<String> problems) {
        Long told = ledger.told(intent);
        if (told == null) {
            if (mustBeTold && should != StoreModel.REFUSED) {
                problems.add(intent + " was never acknowledged, though a later one or a clean close was");
            }
        } else if (should != StoreModel.UNSPECIFIED && told != should) {
            problems.add(intent + " was told " + words(told) + " instead of " + words(should));
        }
    }

    private static String words(long told) {
        return told == StoreModel.REFUSED ? "a sequence conflict" : "sequence " + told;
    }

    private static void compare(long id, StoreModel model, StoreModel found, Set<Long> differing) {
        if (difference(id, model, found) == null) {
            differing.remove(id);
        } else {
            differing.add(id);
        }
    }

    private static @Nullable String difference(long id, StoreModel model, StoreModel found) {
        ListModel should = model.list(id);
        ListModel is = found.list(id);
        if (should == null || is == null) {
            return should == is ? null : should == null ? "should not be there" : "is missing";
        }
        return should.difference(is);
    }

    /** How the lists differ from what was acknowledged, and what touched them last. */
    private static List<String> story(
            Set<Long> differing, StoreModel model, StoreModel found, List<Intent> intents, int certain) {
        List<String> story = new ArrayList<>();
        story.add(differing.size() + " lists are not as acknowledged, nor as any of the " + (intents.size() - certain)
                + " intents under way explains:");
        differing.stream().limit(MAX_LISTS_TOLD).forEach(id -> {
            story.add("list " + id + " " + difference(id, model, found));
            tellIntents(id, intents.subList(0, certain), "acknowledged", story);
            tellIntents(id, intents.subList(certain, intents.size()), "under way", story);
        });
        return story;
    }

    private static void tellIntents(long id, List<Intent> intents, String state, List<String> story) {
        List<Intent> touching =
                intents.stream().filter(intent -> intent.touches(id)).toList();
        touching.stream()
                .skip(Math.max(0, touching.size() - MAX_INTENTS_TOLD))
                .forEach(intent -> story.add("    " + state + ": " + intent));
    }
}
