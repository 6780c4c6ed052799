package io.caravan.spring.boot;

import io.caravan.ListStore;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** Reports the health of the application's store, if the application has exactly one store and Actuator. */
@AutoConfiguration(after = CaravanAutoConfiguration.class)
@ConditionalOnClass(HealthIndicator.class)
@ConditionalOnSingleCandidate(ListStore.class)
public class CaravanHealthAutoConfiguration {

    @Bean
    @ConditionalOnEnabledHealthIndicator("caravan")
    @ConditionalOnMissingBean(name = {"caravanHealthIndicator", "caravanHealthContributor"})
    CaravanHealthIndicator caravanHealthIndicator(ListStore store) {
        return new CaravanHealthIndicator(store);
    }
}
