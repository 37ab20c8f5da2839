/* paper.c - tables 1 and 2 of the paper (paper.h), in their printed order: NN, BN, PN, DGN. */
#include "report/paper.h"

#include <math.h>
#include <string.h>

const char paper_citation[] = "The paper: K. Zhou, X. Huang, Y. Li, D. Zha, R. Chen, X. Hu: Towards Deeper Graph "
                              "Neural Networks with Differentiable Group "
                              "Normalization. NeurIPS 2020, tables 1 and 2.";

#define SETS 4
#define MODELS (NN_SGC + 1)
#define NORMS (NN_GROUP + 1)

static const char *const set_names[SETS] = {"cora", "citeseer", "pubmed", "coauthor-cs"};
static const int64_t depths[MODELS][3] = {{2, 15, 30}, {2, 15, 30}, {5, 60, 120}};

static const struct {
    double accuracy[3][NORMS]; /* by depth */
    int best_depth;
} table1[SETS][MODELS] = {
    {{{{82.2, 73.9, 71.0, 82.0}, {18.1, 70.3, 67.2, 75.2}, {13.1, 67.2, 64.3, 73.2}}, 2},
     {{{80.9, 77.8, 74.4, 81.1}, {16.8, 33.1, 49.6, 71.8}, {13.0, 25.0, 30.2, 51.3}}, 2},
     {{{75.8, 76.3, 75.4, 77.9}, {29.4, 72.1, 71.7, 77.8}, {25.1, 51.2, 65.5, 73.7}}, 20}},
    {{{{70.6, 51.3, 60.5, 69.5}, {15.2, 46.9, 46.7, 53.1}, {9.4, 47.9, 47.1, 52.6}}, 2},
     {{{70.2, 61.5, 62.0, 69.3}, {22.6, 28.0, 41.4, 52.6}, {7.7, 21.4, 33.3, 45.6}}, 2},
     {{{69.6, 58.8, 64.8, 69.5}, {66.3, 50.5, 65.0, 63.4}, {60.8, 47.3, 63.1, 64.7}}, 30}},
    {{{{79.3, 74.9, 71.1, 79.5}, {22.5, 73.7, 70.6, 76.1}, {18.0, 70.4, 70.4, 76.9}}, 2},
     {{{77.8, 76.2, 72.4, 77.5}, {37.5, 56.2, 68.8, 75.9}, {18.0, 46.6, 58.2, 73.3}}, 5},
     {{{71.5, 76.5, 75.8, 76.8}, {34.2, 75.2, 77.1, 77.4}, {23.1, 71.6, 76.7, 77.1}}, 10}},
    {{{{92.3, 86.0, 77.8, 92.3}, {72.2, 78.5, 69.5, 83.7}, {3.3, 84.7, 64.5, 84.4}}, 1},
     {{{91.5, 89.4, 85.9, 91.8}, {6.0, 77.7, 53.1, 84.5}, {3.3, 16.7, 48.1, 75.5}}, 1},
     {{{89.9, 88.7, 86.0, 90.2}, {10.2, 59.7, 76.4, 81.3}, {5.8, 30.5, 52.6, 60.8}}, 1}},
};

static const struct {
    struct {
        double accuracy;
        int layers;
    } set[SETS];
    double improvement;
} table2[MODELS][NORMS] = {
    {{{{57.3, 3}, {44.0, 6}, {36.4, 4}, {67.3, 3}}, 42.2},
     {{{71.8, 20}, {45.1, 25}, {70.4, 30}, {82.7, 30}}, 5.2},
     {{{65.6, 20}, {43.6, 25}, {63.1, 30}, {63.5, 4}}, 19.2},
     {{{76.3, 20}, {50.2, 30}, {72.0, 30}, {83.7, 25}}, NAN}},
    {{{{50.1, 2}, {40.8, 4}, {38.5, 4}, {63.7, 3}}, 51.0},
     {{{72.7, 5}, {48.7, 5}, {60.7, 4}, {80.5, 6}}, 9.8},
     {{{68.8, 8}, {50.3, 6}, {63.2, 20}, {66.6, 3}}, 14.7},
     {{{75.8, 8}, {54.5, 5}, {72.3, 20}, {83.6, 15}}, NAN}},
    {{{{63.4, 5}, {51.2, 40}, {63.7, 5}, {71.0, 5}}, 20.1},
     {{{78.5, 20}, {50.4, 20}, {72.3, 50}, {84.4, 20}}, 6.2},
     {{{73.4, 50}, {58.0, 120}, {75.2, 30}, {80.1, 10}}, 4.5},
     {{{80.2, 50}, {58.2, 90}, {76.2, 90}, {85.8, 20}}, NAN}},
};

static int set_of(const char *data) {
    for (int i = 0; i < SETS; i++)
        if (strcmp(set_names[i], data) == 0)
            return i;
    return -1;
}

double paper_table1(const char *data, nn_conv_kind model, nn_norm_kind norm, int64_t layers) {
    int set = set_of(data);
    for (int i = 0; set >= 0 && model < MODELS && norm < NORMS && i < 3; i++)
        if (depths[model][i] == layers)
            return table1[set][model].accuracy[i][norm];
    return NAN;
}

int64_t paper_best_depth(const char *data, nn_conv_kind model) {
    int set = set_of(data);
    return set >= 0 && model < MODELS ? table1[set][model].best_depth : 0;
}

double paper_table2(int64_t *layers, const char *data, nn_conv_kind model, nn_norm_kind norm) {
    int set = set_of(data);
    *layers = 0;
    if (set < 0 || model >= MODELS || norm >= NORMS)
        return NAN;
    *layers = table2[model][norm].set[set].layers;
    return table2[model][norm].set[set].accuracy;
}

double paper_improvement(nn_conv_kind model, nn_norm_kind norm) {
    return model < MODELS && norm < NORMS ? table2[model][norm].improvement : NAN;
}
